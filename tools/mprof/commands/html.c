// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof html: one page that shows profiles and traces in a browser.

#include "commands/add_names.h"
#include "commands/arguments.h"
#include "commands/directory.h"
#include "commands/html_page.h"
#include "commands/input.h"
#include "commands/name_locks.h"
#include "commands/options.h"
#include "commands/profile_kinds.h"
#include "commands/show_memory.h"
#include "common/memory.h"
#include "files/bytes.h"
#include "files/json.h"
#include "files/read_profile.h"
#include "files/shown_path.h"
#include "html/page.h"
#include "html/trace_page.h"
#include "live/live_client.h"
#include "view/short_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Files of one kind, such as the heap profiles of several processes. They are
// added up.
struct group {
  struct profile *profile;
  const char *kind, *name;
  enum page_role role;
  const char *path; // of the only file; NULL: of several, or of a program
};

struct groups {
  const struct options *options;
  struct trace_window window; // of traces
  bool has_trace;
  struct page *page;
  struct group *items;
  size_t count, capacity;
};

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

static bool has_same_types(const struct profile *a, const struct profile *b) {
  if (a->type_count != b->type_count)
    return false;
  for (unsigned i = 0; i < a->type_count; i++)
    if (strcmp(a->strings[a->types[i].type], b->strings[b->types[i].type]) !=
            0 ||
        strcmp(a->strings[a->types[i].unit], b->strings[b->types[i].unit]) != 0)
      return false;
  return true;
}

static struct group *group_of(struct groups *g, const struct profile *p,
                              const char *kind, enum page_role role) {
  for (size_t i = 0; i < g->count && role != ROLE_SNAPSHOT; i++)
    if (g->items[i].role == role && strcmp(g->items[i].kind, kind) == 0 &&
        has_same_types(g->items[i].profile, p))
      return &g->items[i];
  return NULL;
}

static const char *add_profile(struct groups *g, const char *path,
                               const struct bytes *bytes, enum page_role role) {
  struct profile *p = profile_new();
  const char *error = read_profile(p, bytes, NULL);
  if (error)
    return error;
  const char *kind = input_kind(p, path);
  struct group *group = group_of(g, p, kind, role);
  if (group) {
    group->path = NULL;
    return read_profile(group->profile, bytes, NULL);
  }
  *APPEND(g->items, g->count, g->capacity) =
      (struct group){.profile = p,
                     .kind = kind,
                     .name = strdup(base_name(path)),
                     .role = role,
                     .path = shown_path(path) == path ? path : NULL};
  return NULL;
}

static const char *add_trace(struct groups *g, const char *path,
                             const struct bytes *bytes) {
  static char error[256];
  char *json = trace_json_of(bytes, path, base_name(path), g->window, error,
                             sizeof error);
  if (!json)
    return error;
  page_add_json(g->page, "traces", json);
  g->has_trace = true;
  return NULL;
}

// Returns whether the data are a text that MProf writes for people. title: the
// end of its first line.
static bool is_text(const struct bytes *bytes, const char *title) {
  static const char start[] = "MProf ";
  const size_t length = strlen(title);
  const char *text = (const char *)bytes->at;
  const char *end = memchr(text, '\n', bytes->length);
  return end && end - text < 200 &&
         (size_t)(end - text) > sizeof start + length &&
         memcmp(text, start, sizeof start - 1) == 0 &&
         memcmp(end - length, title, length) == 0;
}

// Writes a line of a report. A frame, "#1 0x55d0 in NAME FILE:LINE", has the
// short name of its function.
static void put_line(FILE *out, const char *line) {
  const char *name = strstr(line, " in "), *place = strrchr(line, ' ');
  char *text = NULL;
  if (line[strspn(line, " ")] == '#' && name && name + 4 < place) {
    name += 4;
    char *brief = page_short_name(name, (size_t)(place - name));
    text = text_of("%.*s%s%s", (int)(name - line), line, brief ? brief : "",
                   place);
    free(brief);
  }
  json_string(out, text ? text : line);
  free(text);
}

static const char *add_report(struct groups *g, const char *path,
                              const struct bytes *bytes) {
  char *json = NULL;
  size_t length;
  FILE *out = open_memstream(&json, &length);
  if (!out)
    return strerror(errno);
  char *text = zeroed(bytes->length + 1, 1);
  memcpy(text, bytes->at, bytes->length);
  text = name_locks(g->options, text);
  fputs("{\"name\":", out);
  json_string(out, base_name(path));
  fputs(",\"lines\":[", out);
  for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
    put_line(out, line);
    fputs(rest ? "," : "]}", out);
  }
  free(text);
  if (fclose(out) != 0)
    return strerror(errno);
  page_add_json(g->page, "reports", json);
  return NULL;
}

struct adder {
  struct groups *groups;
  enum page_role role;
};

static const char *add_bytes(void *arg, const char *path,
                             const struct bytes *bytes) {
  const struct adder *a = arg;
  if (bytes->length == 0)
    return "the file is empty";
  if (is_trace(bytes))
    return add_trace(a->groups, path, bytes);
  if (is_text(bytes, " stuck threads"))
    return add_report(a->groups, path, bytes);
  if (!is_text(bytes, " report"))
    return add_profile(a->groups, path, bytes, a->role);
  complain(a->groups->options,
           "%s: left out, because it repeats what the profiles say", path);
  return NULL;
}

static bool add_file(struct groups *g, const char *path, enum page_role role) {
  struct adder a = {g, role};
  struct input_file file;
  const char *error = input_file_open(&file, path);
  if (!error)
    error = input_file_each(&file, add_bytes, &a);
  input_file_close(&file);
  if (error)
    complain(g->options, "%s: %s", shown_path(path), error);
  return !error;
}

// Adds the sentences of mprof memory to the memory profile that was added last.
static void add_memory_notes(struct groups *g, const struct group *x) {
  char error[256];
  struct memory_parts m;
  struct view *v = memory_view(x->profile, input_view_options(g->options),
                               error, sizeof error);
  if (v && memory_parts_of(v, &m))
    page_add_notes(g->page, show_memory_sentences(v, &m, x->path));
}

static bool add_groups(struct groups *g) {
  struct view_options wanted = input_view_options(g->options);
  const struct profile **profiles = zeroed(g->count, sizeof *profiles);
  char error[256];
  bool is_good = true;
  for (size_t i = 0; i < g->count; i++)
    profiles[i] = g->items[i].profile;
  // The page compares profiles by the names of functions.
  wanted.names = short_names_new(profiles, g->count);
  for (size_t i = 0; i < g->count && is_good; i++) {
    const struct group *x = &g->items[i];
    if (!page_add_profile(g->page, x->profile, x->kind, x->name, x->role,
                          &wanted, input_losses, error, sizeof error)) {
      complain(g->options, "%s", error);
      is_good = false;
    } else if (memory_is(x->profile)) {
      add_memory_notes(g, x);
    }
  }
  short_names_free(wanted.names);
  free(profiles);
  return is_good;
}

static bool has_pair(const struct groups *g, const struct group *base) {
  for (size_t i = 0; i < g->count; i++)
    if (g->items[i].role != ROLE_BASE &&
        strcmp(g->items[i].kind, base->kind) == 0)
      return true;
  return false;
}

// Returns whether a profile of --base has a profile of the same kind to be
// compared with. The files of a directory may have further kinds.
static bool check_base(const struct groups *g) {
  const struct group *base = NULL;
  for (size_t i = 0; i < g->count; i++) {
    if (g->items[i].role != ROLE_BASE)
      continue;
    base = &g->items[i];
    if (has_pair(g, base))
      return true;
  }
  if (base)
    complain(g->options,
             "%s is a profile of the kind %s, and no given file has this "
             "kind",
             g->options->base, base->kind);
  return !base;
}

// Returns whether both name the same running program, such as by its process id
// and by its socket.
static bool is_same_program(const char *one, const char *other) {
  char address[LIVE_ADDRESS], other_address[LIVE_ADDRESS], why[512];
  return strcmp(one, other) == 0 ||
         (live_find(one, address, why, sizeof why) &&
          live_find(other, other_address, why, sizeof why) &&
          strcmp(address, other_address) == 0);
}

// Returns whether a shown file is the present profile of the program, after a
// message.
static bool is_shown_program(const struct options *o, const char *program) {
  for (int i = 0; i < o->path_count; i++) {
    const char *shown = shown_path(o->paths[i]);
    if (shown == o->paths[i])
      continue;
    // A program without MProf has only its memory, without a suffix.
    char *name = text_of("%s", shown);
    char *suffix = strrchr(name, '.');
    if (suffix)
      *suffix = '\0';
    const bool is_same = is_same_program(name, program);
    free(name);
    if (!is_same)
      continue;
    complain(o,
             "--base=%s is the program that is shown, so nothing would have "
             "changed; mprof ctl %s dump heap writes a file to compare with "
             "later",
             program, program);
    return true;
  }
  return false;
}

// Reads the file of --base, or the profiles of its directory or program.
static bool read_base(struct groups *g) {
  static const char *const suffixes[] = {".pb.gz", NULL};
  char *path = (char *)g->options->base;
  struct options own = *g->options;
  own.paths = &path;
  own.path_count = 1;
  const struct options given = own;
  if (arguments_is_program(path)) {
    size_t count = 0;
    if (is_shown_program(g->options, path))
      return false;
    own.paths = arguments_profiles(&given, path, &count);
    own.path_count = (int)count;
    if (!own.paths)
      return false;
  } else if (!directory_expand(&given, suffixes, true, &own)) {
    return false;
  }
  bool is_good = true;
  for (int i = 0; i < own.path_count && is_good; i++)
    is_good = add_file(g, own.paths[i], ROLE_BASE);
  free(own.paths);
  return is_good;
}

static bool read_files(struct groups *g) {
  const struct options *o = g->options;
  if (!add_names_check(o))
    return false;
  for (int i = 0; i < o->path_count; i++)
    if (!add_file(g, o->paths[i], o->series ? ROLE_SNAPSHOT : ROLE_SHOWN))
      return false;
  if (o->base && !read_base(g))
    return false;
  for (size_t i = 0; i < g->count; i++)
    add_names(o, g->items[i].profile, NAMES_AUTOMATIC);
  return check_base(g);
}

// Returns whether a profile has the values that --sample names.
static bool has_type(const struct groups *g) {
  const char *wanted = g->options->sample;
  for (size_t i = 0; i < g->count; i++)
    if (!wanted || profile_find_type(g->items[i].profile, wanted) >= 0)
      return true;
  if (wanted)
    complain(g->options,
             "no profile has the values %s; mprof info FILE lists "
             "the values of a file",
             wanted);
  return !wanted;
}

static bool has_kind(const struct options *o, const struct profile_kind *kind) {
  for (int i = 0; i < o->path_count; i++)
    if (profile_kind_of(o->paths[i]) == kind)
      return true;
  return false;
}

// Returns the kinds and the names of files that the process of a given file has
// written beside it, and that are not given, as page_start has them.
static const char **files_beside(const struct options *o) {
  const char **texts = NULL;
  size_t count = 0, capacity = 0;
  for (const struct profile_kind *k = profile_kinds; k->name; k++) {
    bool is_found = has_kind(o, k);
    for (int i = 0; i < o->path_count && !is_found; i++) {
      char *other = profile_kind_beside(o->paths[i], k);
      is_found = other != NULL;
      if (is_found) {
        *APPEND(texts, count, capacity) = k->name;
        *APPEND(texts, count, capacity) = strdup(base_name(other));
      }
      free(other);
    }
  }
  *APPEND(texts, count, capacity) = NULL;
  return texts;
}

static int write_page(struct groups *g, const char *output,
                      unsigned long version) {
  const struct options *o = g->options;
  const struct page_start start = {.type = o->sample,
                                   .grain = input_view_options(o).grain,
                                   .keeps_std = o->std,
                                   .has_sources = !o->no_source,
                                   .source_directory = o->source,
                                   .beside = files_beside(o),
                                   .version = version};
  struct bytes bytes = {0};
  FILE *out = open_memstream((char **)&bytes.at, &bytes.length);
  if (!out)
    return complain(o, "%s", strerror(errno));
  page_write(g->page, &start, out);
  const char *error =
      fclose(out) == 0 ? bytes_write(output, &bytes) : strerror(errno);
  free(bytes.at);
  return error ? complain(o, "%s: %s", output, error) : STATUS_OK;
}

int html_make(const struct options *given, unsigned long version) {
  static const char *const suffixes[] = {".pb.gz", ".trace", ".stuck.txt",
                                         NULL};
  struct options own;
  // With --series, each snapshot is shown.
  if (!directory_expand(given, suffixes, !given->series, &own))
    return STATUS_ERROR;
  const struct options *options = &own;
  struct groups g = {.options = options, .page = page_new()};
  if (options->lines + options->functions + options->files > 1)
    return complain(options,
                    "--functions, --lines and --files exclude each other");
  char error[256];
  if (!trace_window_parse(&g.window, options->from, options->to, error,
                          sizeof error))
    return complain(options, "%s", error);
  if (!read_files(&g))
    return STATUS_ERROR;
  if (!g.has_trace && !trace_window_is_all(g.window))
    return complain(options, "--from and --to select a part of a trace, and no "
                             "given file is a trace");
  if (!has_type(&g) || !add_groups(&g))
    return STATUS_ERROR;
  return write_page(&g, options->output, version);
}

int command_html(const struct options *options) {
  return options->output
             ? html_make(options, 0)
             : complain(options, "give the page's name with -o, such as "
                                 "-o report.html; -o - is standard output");
}
