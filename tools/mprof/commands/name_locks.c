// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/name_locks.h"

#include "commands/add_names.h"
#include "common/memory.h"
#include "model/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char title[] = "\nModules of the locks\n";

// Adds the lines "  0xSTART 0xOFFSET BUILD_ID PATH" as mappings.
static void add_modules(struct profile *p, const char *lines) {
  for (; lines && *lines; lines = strchr(lines, '\n')) {
    uint64_t start, offset;
    char id[41];
    int path = 0;
    lines += *lines == '\n';
    if (sscanf(lines, "  0x%" SCNx64 " 0x%" SCNx64 " %40s %n", &start, &offset,
               id, &path) != 3 ||
        !path)
      continue;
    const struct mapping m = {
        .start = start,
        .limit = start + 1,
        .offset = offset,
        .file = profile_string(p, lines + path, strcspn(lines + path, "\n")),
        .build_id = profile_text(p, strcmp(id, "-") == 0 ? "" : id)};
    profile_mapping(p, &m);
  }
}

// Returns the next address of a lock at or after the text, as in "mutex 0x55",
// and stores its length. Returns NULL if there is none.
static const char *next_lock(const char *text, size_t *length) {
  static const char *const words[] = {"mutex ",     "lock ",      "rwlock ",
                                      "condition ", "semaphore ", "barrier "};
  for (const char *at = text; (at = strstr(at, "0x")) != NULL; at++) {
    *length = 2 + strspn(at + 2, "0123456789abcdef");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
      const size_t before = strlen(words[i]);
      if ((size_t)(at - text) >= before &&
          strncmp(at - before, words[i], before) == 0)
        return at;
    }
  }
  return NULL;
}

// Writes the text with the names of its locks, which are the first labels of
// the samples, in the order of the text.
static char *replaced(const char *text, const struct profile *p) {
  char *out = NULL;
  size_t size, length;
  FILE *f = open_memstream(&out, &size);
  if (!f)
    return NULL;
  const char *at;
  for (size_t i = 0; (at = next_lock(text, &length)) != NULL; i++) {
    fwrite(text, 1, (size_t)(at - text), f);
    fputs(2 * i < p->label_count ? p->strings[p->labels[2 * i].str] : "", f);
    text = at + length;
  }
  fputs(text, f);
  return fclose(f) == 0 ? out : NULL;
}

char *name_locks(const struct options *options, char *text) {
  char *modules = strstr(text, title);
  if (!modules)
    return text;
  struct profile *p = profile_new();
  char *summary = strstr(modules + 1, "\n\n");
  add_modules(p, modules + strlen(title));
  if (summary)
    memmove(modules, summary + 1, strlen(summary + 1) + 1);
  else
    *modules = '\0';
  const string_id key = profile_text(p, "lock"), number = profile_text(p, "n");
  size_t length;
  int64_t count = 0;
  for (const char *at = text; (at = next_lock(at, &length)) != NULL;
       at += length) {
    // The number makes each sample different from the others.
    const struct label labels[] = {
        {.key = key, .str = profile_string(p, at, length)},
        {.key = number, .number = ++count}};
    profile_sample(p, NULL, 0, labels, 2, 0, NULL);
  }
  add_names(options, p, NAMES_AUTOMATIC);
  char *named = replaced(text, p);
  profile_free(p);
  return named ? named : text;
}
