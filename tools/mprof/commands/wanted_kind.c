// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/wanted_kind.h"

#include "commands/directory.h"
#include "commands/next_command.h"
#include "commands/option_table.h"
#include "common/ends_with.h"
#include "common/memory.h"
#include "files/read_profile.h"
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

// --- the directories ---

// Returns whether a directory among the arguments has a file of the kind.
static bool has_file(const struct options *o, const struct profile_kind *kind) {
  for (int i = 0; i < o->path_count; i++)
    if (directory_newest(o->paths[i], kind->suffix))
      return true;
  return false;
}

static bool sample_has_label(const struct profile *p, const struct sample *s,
                             const char *key, size_t length) {
  for (uint32_t i = 0; i < s->label_count; i++) {
    const char *name = p->strings[p->labels[s->first_label + i].key];
    if (strncmp(name, key, length) == 0 && !name[length])
      return true;
  }
  return false;
}

// Returns whether the file has samples, with the label if key is not NULL.
static bool has_samples(const char *path, const char *key, size_t length) {
  struct profile *p = profile_new();
  bool has = false;
  if (read_profile_file(p, path) == NULL)
    for (size_t i = 0; i < p->sample_count && !has; i++)
      has = !key || sample_has_label(p, &p->samples[i], key, length);
  profile_free(p);
  return has;
}

// Returns whether a directory has such a file of the kind.
static bool has_samples_of(const struct options *o,
                           const struct profile_kind *kind, const char *key,
                           size_t length) {
  const char *const suffixes[] = {kind->suffix, NULL};
  bool has = false;
  for (int i = 0; i < o->path_count && !has; i++) {
    struct options one = *o, files;
    one.paths = &o->paths[i];
    one.path_count = 1;
    if (!directory_newest(o->paths[i], kind->suffix) ||
        !directory_expand(&one, suffixes, false, &files))
      continue;
    for (int k = 0; k < files.path_count && !has; k++)
      has = has_samples(files.paths[k], key, length);
  }
  return has;
}

// --- the choice ---

// Returns whether the kind may be taken instead of the heap. The other profiles
// of blocks are those of other moments, and each program has created threads.
static bool is_alternative(const struct profile_kind *kind) {
  static const char *const others[] = {"heap", "peak", "main", "threadcreate"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(kind->name, others[i]) == 0)
      return false;
  return kind->owner == COMMAND_COUNT && ends_with(kind->suffix, ".pb.gz");
}

// Returns the first kind with the type of which a directory has a file, or else
// the first one with the type, or NULL.
static const struct profile_kind *kind_with_type(const struct options *o,
                                                 const char *type) {
  const struct profile_kind *first = NULL;
  for (const struct profile_kind *k = profile_kinds; k->name; k++) {
    if (!profile_kind_has_type(k, type))
      continue;
    if (has_file(o, k))
      return k;
    first = first ? first : k;
  }
  return first;
}

// Returns the kind of a file among the arguments, which directories are
// compared with, or NULL.
static const struct profile_kind *kind_of_file(const struct options *o) {
  for (int i = 0; i < o->path_count; i++) {
    const struct profile_kind *kind =
        directory_is(o->paths[i]) ? NULL : profile_kind_of(o->paths[i]);
    if (kind && is_alternative(kind))
      return kind;
  }
  return NULL;
}

// Returns the first kind with samples, or the heap.
static const struct profile_kind *kind_with_samples(const struct options *o) {
  const struct profile_kind *heap = profile_kind_named("heap"), *file = NULL;
  const char *key = o->by ? o->by : o->labels.count ? o->labels.items[0] : NULL;
  const size_t length = key ? strcspn(key, o->by ? "" : "=") : 0;
  if (has_samples_of(o, heap, key, length))
    return heap;
  for (const struct profile_kind *k = profile_kinds; k->name; k++) {
    if (!is_alternative(k))
      continue;
    if (has_samples_of(o, k, key, length))
      return k;
    if (!file && has_file(o, k))
      file = k;
  }
  return file && !has_file(o, heap) ? file : heap;
}

// Returns the first value type of the kind. The caller frees it.
static char *first_type(const struct profile_kind *kind) {
  const char *types = kind->types ? kind->types : "";
  return text_of("%.*s", (int)strcspn(types, " "), types);
}

// Names the other kinds of the directory, and how they are shown.
static void name_others(const struct options *o, const char *directory,
                        const struct profile_kind *shown) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return;
  for (const struct profile_kind *k = profile_kinds; k->name; k++) {
    if (k == shown || !(is_alternative(k) || strcmp(k->name, "heap") == 0) ||
        !directory_newest(directory, k->suffix))
      continue;
    char *type = first_type(k);
    fprintf(out, "%s%s (", ftell(out) ? ", " : "", k->name);
    if (*type && kind_with_type(o, type) == k) {
      fprintf(out, "--sample=%s", type);
    } else {
      next_command_put(out, k->command, directory);
      fprintf(out, "/*%s", k->suffix);
    }
    fputc(')', out);
    free(type);
  }
  fclose(out);
  if (*text)
    complain(o, "note: this is the %s profile; the directory also has %s",
             shown->name, text);
  free(text);
}

const struct profile_kind *wanted_kind(const struct options *o) {
  const struct profile_kind *kind = NULL;
  const char *directory = NULL;
  for (const struct profile_kind *k = profile_kinds; k->name; k++)
    if (k->owner == o->command)
      return k;
  if (o->sample && (kind = kind_with_type(o, o->sample)))
    return kind;
  for (int i = 0; i < o->path_count && !directory; i++)
    directory = directory_is(o->paths[i]) ? o->paths[i] : NULL;
  if (!directory || !command_shows_any_kind(o->command) || o->sample ||
      option_is(o->by, "type") || o->fail_if.count)
    return profile_kind_named("heap");
  kind = kind_of_file(o);
  if (!kind)
    kind = kind_with_samples(o);
  if (!o->format || option_is(o->format, "text"))
    name_others(o, directory, kind);
  return kind;
}
