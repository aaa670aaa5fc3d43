// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof explain: an overview of all profiles of a process as Markdown, for a
// pull request or a ticket. Each question that the profiles answer is a section
// with one sentence, the first rows, and the command that shows more.

#include "commands/add_names.h"
#include "commands/directory.h"
#include "commands/input.h"
#include "commands/next_command.h"
#include "commands/options.h"
#include "commands/profile_kinds.h"
#include "commands/run_processes.h"
#include "commands/sections.h"
#include "commands/show_memory.h"
#include "commands/show_orders.h"
#include "commands/show_top.h"
#include "common/ends_with.h"
#include "common/memory.h"
#include "files/shown_path.h"
#include "sys/message.h"
#include "terminal/markup.h"
#include "terminal/quantity.h"
#include "view/estimate.h"
#include "view/functions.h"
#include "view/lock_pairs.h"
#include "view/shown_frames.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 3 };

// A question that a profile answers in a section. type: a value type, or NULL
// for the profile's default. before, after: the words around the sum. more: the
// command that shows more, if it is not that of the kind.
struct question {
  const char *kind, *type, *title, *before, *after, *more;
  // Prints the section, unless the profile has nothing for it.
  void (*put)(const struct question *q, struct profile *p, const char *path,
              size_t limit);
  // Prints further lines of put_functions, or NULL.
  void (*put_lines)(const struct view *v, size_t limit, FILE *out);
};

struct files {
  const char **items;
  size_t count, capacity;
};

// --- files ---

// Appends the files of one process: the one that has done most in the last run.
// Appends the other processes to `others`. Returns false after a message.
static bool add_directory(const struct options *o, const char *directory,
                          struct files *f, struct run_processes *others) {
  const struct run_processes r = run_processes_find(o, directory);
  if (!r.count)
    return complain(o, "the directory %s has no file of MProf", directory),
           false;
  for (const struct profile_kind *k = profile_kinds; k->name; k++) {
    char *path = profile_kind_beside(r.items[0].newest, k);
    if (path)
      *APPEND(f->items, f->count, f->capacity) = path;
  }
  for (size_t i = 1; i < r.count; i++)
    *APPEND(others->items, others->count, others->capacity) = r.items[i];
  free(r.items);
  return true;
}

static bool is_profile(const char *path) {
  const struct profile_kind *kind = profile_kind_of(path);
  return !kind || ends_with(kind->suffix, ".pb.gz");
}

static bool is_stuck_report(const char *path) {
  const struct profile_kind *kind = profile_kind_of(path);
  return kind && strcmp(kind->name, "stuck") == 0;
}

// --- sections ---

// Prints the command that shows more, as a block of code.
static void put_command(const char *command, const char *path) {
  fputs("\n    ", stdout);
  next_command_put(stdout, command, path);
  fputc('\n', stdout);
}

static void put_more(const struct question *q, const char *path) {
  put_command(q->more ? q->more : profile_kind_named(q->kind)->command, path);
}

// Prints the sum of the view, and the row that has most of it. Samples without
// stacks have no row.
static void put_sentence(const struct question *q, const struct view *v,
                         const struct function_table *rows) {
  printf("%s%s%s", q->before,
         quantity_with_error(v->total, v->variance, v->unit, true).text,
         q->after);
  if (rows->count) {
    const struct function_row *first = &rows->rows[0];
    printf("; %s of it in ", quantity_share(first->flat, v->total).text);
    markup_put_markdown(stdout, frame_text(v, &first->shown).text);
  }
  fputs(".\n\n", stdout);
}

// Returns the view of the question, or NULL if its values are all 0.
static struct view *view_of(const struct question *q, struct profile *p,
                            enum view_grain grain) {
  char error[256];
  struct view *v =
      view_new(p, &(struct view_options){.type = q->type, .grain = grain},
               error, sizeof error);
  return v && v->total ? v : NULL;
}

static void put_memory(const struct question *q, struct profile *p,
                       const char *path, size_t limit) {
  char error[256];
  struct memory_parts m;
  struct view *v =
      memory_view(p, (struct view_options){0}, error, sizeof error);
  (void)limit;
  if (!v || !memory_parts_of(v, &m))
    return;
  printf("\n## %s\n\n", q->title);
  const struct memory_shown shown = memory_shown_briefly(&m);
  show_memory_markdown(v, &m, &shown, stdout);
  put_more(q, path);
}

static void put_locks(const struct question *q, struct profile *p,
                      const char *path, size_t limit) {
  struct view *v = pairs_are_in(p) ? view_of(q, p, GRAIN_LINES) : NULL;
  if (!v)
    return;
  locks_section(v, limit);
  put_more(q, path);
}

// Prints the labels of a profile, and the command for more, unless those of
// another one were printed.
static void put_labels(const struct question *q, struct profile *p,
                       const char *path, size_t limit) {
  enum { MOST_LABELS = 2 };
  static bool is_done;
  struct view *v = is_done ? NULL : view_of(q, p, GRAIN_FUNCTIONS);
  size_t i = 0;
  for (; v && i < MOST_LABELS && labels_section(v, i, limit); i++)
    put_more(q, path);
  is_done |= i > 0;
}

static void put_orders(const struct view *v, size_t limit, FILE *out) {
  show_orders(v, limit ? (int64_t)limit : INT64_MAX, out);
}

// Prints the lines of the question as a block of code.
static void put_lines(const struct question *q, const struct view *v,
                      size_t limit) {
  char *text = NULL;
  size_t length;
  FILE *out = q->put_lines ? open_memstream(&text, &length) : NULL;
  if (!out)
    return;
  q->put_lines(v, limit, out);
  fclose(out);
  if (*text && *text != '\n')
    putchar('\n');
  for (char *rest = text, *line; (line = strsep(&rest, "\n")) && rest;)
    printf("%s%s\n", *line ? "    " : "", line);
  free(text);
}

// Prints the sum, and the functions with the largest values.
static void put_functions(const struct question *q, struct profile *p,
                          const char *path, size_t limit) {
  struct view *v = view_of(q, p, GRAIN_FUNCTIONS);
  if (!v)
    return;
  struct function_table rows = functions_of(v, false, false);
  size_t count = 0;
  while (count < rows.count && rows.rows[count].flat != 0 &&
         (!limit || count < limit))
    count++;
  printf("\n## %s\n\n", q->title);
  put_sentence(q, v, &rows);
  struct table *t = top_table(v, &rows, count, "function", true);
  table_print_markdown(t, stdout);
  table_free(t);
  put_lines(q, v, limit);
  put_more(q, path);
  functions_free(&rows);
}

// Prints the functions that allocated, or says why none is known.
static void put_allocations(const struct question *q, struct profile *p,
                            const char *path, size_t limit) {
  if (estimate_lacks_samples(p))
    printf("\n## %s\n\nNo block was sampled; mprof run " HEAP_RATE_OF_ALL ".\n",
           q->title);
  else
    put_functions(q, p, path, limit);
}

// The questions in the order of their sections.
static const struct question questions[] = {
    {"threadleak", NULL, "Stuck threads", "Threads that can never continue: ",
     "", .put = put_functions, .put_lines = stuck_section},
    {"lockorder", NULL, "Locks taken in different orders",
     "Steps of cycles of locks that can become deadlocks: ", "",
     .put = put_functions, .put_lines = put_orders},
    {"cpu", "cpu", "Processor time", "The program used ", " of processor time",
     .put = put_functions},
    {"wall", "wall", "Where the time went", "All threads spent ",
     ", running and waiting", "top --by=state", .put = put_functions},
    {"peak", "inuse_space", "Memory at the peak", "The program used ",
     " when it used most", .put = put_functions},
    {"main", "inuse_space", "Memory at the end of main", "The program used ",
     " at the end of main", .put = put_functions},
    {"heap", "inuse_space", "Memory at the end", "The program used ",
     " at the end", .put = put_functions},
    {"heap", "alloc_space", "Allocations", "The program allocated ", " in all",
     "top --sample=alloc_space", .put = put_allocations},
    {"temporary_objects", "temporary_objects", "Temporary blocks",
     "The program allocated ",
     " temporary blocks: each was freed before its thread allocated another",
     "top", .put = put_functions},
    {"peak", "inuse_space", .more = "labels", .put = put_labels},
    {"heap", "inuse_space", .more = "labels", .put = put_labels},
    {"heap", "alloc_space", .more = "labels --sample=alloc_space",
     .put = put_labels},
    {"memory", NULL, "Resident memory", .put = put_memory},
    {"block", "delay", "Waits", "All threads waited ", " together",
     .put = put_functions},
    {"mutex", "delay", "Locks", "Threads waited ",
     " for locks, until these functions unlocked them", .put = put_functions},
    {"locks", "delay", .put = put_locks},
    {"threads", NULL, "Threads", "Threads at the end: ", "",
     .put = put_functions},
};

static void put_title(const struct profile *p) {
  const char *command = input_comment(p, "command");
  fputs("# ", stdout);
  markup_put_markdown(stdout, command ? command : "Profiles");
  fputc('\n', stdout);
  if (p->time_ns > 0) {
    char buffer[32];
    struct mprof_text t = MPROF_TEXT(buffer);
    mprof_text_utc(&t, p->time_ns, false);
    printf("\n%s\n", buffer);
  }
}

// Names the other processes of the run, such as a shell and its other programs.
static void put_others(const struct run_processes *others) {
  if (!others->count)
    return;
  printf(
      "\nOf the %zu processes of this run, this one has done most. For %s:\n\n",
      others->count + 1, others->count == 1 ? "the other one" : "others");
  run_processes_put_commands(others, 0, "    ", stdout);
}

static void put_losses(struct profile *const profiles[], size_t count) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return;
  input_say_losses_once();
  for (size_t i = 0; i < count; i++)
    if (profiles[i])
      input_print_losses(profiles[i], out);
  fclose(out);
  if (length) {
    puts("\n## What is missing");
    markup_put_paragraphs(stdout, text);
  }
  free(text);
}

int command_explain(const struct options *options) {
  struct files f = {0};
  struct run_processes others = {0};
  size_t limit = ROWS;
  if (options->count && !input_count(options, &limit))
    return STATUS_ERROR;
  if (!add_names_check(options))
    return STATUS_ERROR;
  for (int i = 0; i < options->path_count; i++) {
    const char *path = options->paths[i];
    if (!directory_is(path))
      *APPEND(f.items, f.count, f.capacity) = path;
    else if (!add_directory(options, path, &f, &others))
      return STATUS_ERROR;
  }
  struct profile **profiles = zeroed(f.count, sizeof *profiles);
  const char **kinds = zeroed(f.count, sizeof *kinds);
  for (size_t i = 0; i < f.count; i++) {
    if (!is_profile(f.items[i]))
      continue;
    profiles[i] = profile_new();
    const char *error = input_file_read(profiles[i], f.items[i]);
    if (error)
      return complain(options, "%s: %s", shown_path(f.items[i]), error);
    add_names(options, profiles[i], NAMES_AUTOMATIC);
    kinds[i] = input_kind(profiles[i], f.items[i]);
  }
  for (size_t i = 0; i < f.count; i++)
    if (profiles[i]) {
      put_title(profiles[i]);
      break;
    }
  put_others(&others);
  bool *is_shown = zeroed(f.count, sizeof *is_shown);
  for (size_t i = 0; i < f.count; i++) {
    is_shown[i] = is_stuck_report(f.items[i]) &&
                  cycles_section(options, f.items[i], limit);
    if (is_shown[i])
      put_command("stuck", f.items[i]);
  }
  for (size_t q = 0; q < sizeof questions / sizeof *questions; q++)
    for (size_t i = 0; i < f.count; i++)
      if (kinds[i] && strcmp(kinds[i], questions[q].kind) == 0)
        questions[q].put(&questions[q], profiles[i], f.items[i], limit);
  for (size_t i = 0; i < f.count; i++) {
    if (is_shown[i] || is_profile(f.items[i]))
      continue;
    const struct profile_kind *kind = profile_kind_of(f.items[i]);
    if (strcmp(kind->name, "trace") == 0 && latency_section(f.items[i], limit))
      put_command("latency", f.items[i]);
    put_command(kind->command, f.items[i]);
  }
  put_losses(profiles, f.count);
  free(profiles);
  free(kinds);
  free(is_shown);
  free(f.items);
  free(others.items);
  return STATUS_OK;
}
