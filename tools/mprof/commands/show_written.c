// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_written.h"

#include "commands/add_names.h"
#include "commands/input.h"
#include "commands/next_command.h"
#include "commands/profile_kinds.h"
#include "commands/show_memory.h"
#include "commands/show_orders.h"
#include "commands/show_top.h"
#include "common/ends_with.h"
#include "files/read_profile.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  REPORT_ROWS = 5,
  // If blocks in use are more than this part of the resident memory, in
  // percent, the table of functions says enough.
  MOST = 80,
};

// Prints a command for the file on a line.
static void print_command(const char *command, const char *path) {
  next_command_put(stderr, command, path);
  fputc('\n', stderr);
}

// Shows the largest values of the profile, and the command that shows more.
// Returns false if the profile has no values, and then shows it only if
// shows_empty is true.
static bool show_profile(const struct options *o,
                         const struct profile_kind *kind,
                         const struct written_file *file, int64_t start_ns,
                         const struct style *style, bool shows_empty) {
  const char *path = file->path;
  struct profile *p = profile_new();
  char error[256];
  if (file->is_hidden || input_file_read(p, path) != NULL)
    return false;
  written_file_add_moment(file, p, start_ns);
  add_names(o, p, NAMES_AUTOMATIC);
  struct view *v =
      input_view_or_other(p, (struct view_options){0}, error, sizeof error);
  if (!v)
    return false;
  struct function_table rows = functions_of(v, false, false);
  if (rows.count == 0 && !shows_empty) {
    functions_free(&rows);
    return false;
  }
  fputc('\n', stderr);
  if (strcmp(kind->name, "lockorder") == 0)
    show_orders(v, REPORT_ROWS, stderr);
  else
    show_top(v, &rows, REPORT_ROWS, GRAIN_FUNCTIONS, stderr, style,
             "the command below with -n 0");
  if (strcmp(kind->name, "wall") == 0)
    print_labels(v, "state", stderr, style);
  functions_free(&rows);
  char command[64];
  if (v->empty_type && strcmp(kind->command, "top") == 0)
    snprintf(command, sizeof command, "top --sample=%s", v->type_name);
  else
    snprintf(command, sizeof command, "%s", kind->command);
  print_command(command, path);
  return true;
}

// Shows where the memory was when the resident memory was highest, if the heap
// profile does not explain most of it.
static bool show_rest_of_memory(const struct options *o,
                                const struct written_file *file,
                                int64_t start_ns, const struct style *style) {
  struct profile *p = profile_new();
  struct memory_parts m;
  char error[256];
  if (input_file_read(p, file->path) != NULL)
    return false;
  written_file_add_moment(file, p, start_ns);
  add_names(o, p, NAMES_AUTOMATIC);
  struct view *v =
      memory_view(p, (struct view_options){0}, error, sizeof error);
  if (!v || !memory_parts_of(v, &m))
    return false;
  const struct memory_part *blocks = memory_part_find(&m, MPROF_MEMORY_USED);
  if (blocks && blocks->usage.rss > m.total.rss / 100 * MOST)
    return false;
  struct memory_shown shown = memory_shown_briefly(&m);
  shown.path = file->path;
  fputc('\n', stderr);
  show_memory(v, &m, &shown, stderr, style);
  print_command("memory", file->path);
  return true;
}

// Shows the longest waits of a trace, in a child, because mprof trace top
// prints to standard output. Returns whether it could be read.
static bool show_trace(char *path) {
  int status = 1;
  fputc('\n', stderr);
  const pid_t pid = fork();
  if (pid == 0) {
    const struct options top = {.command = COMMAND_trace_top,
                                .count = "3",
                                .paths = &path,
                                .path_count = 1};
    _exit(dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? 1 : command_trace_top(&top));
  }
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

// Returns the file of another process whose profile of the kind has values, or
// NULL. A process that was killed may have only its report of stuck threads.
static const char *other_with_values(const struct profile_kind *kind,
                                     const struct file_names *others) {
  const bool is_of_stuck = strcmp(kind->name, "threadleak") == 0;
  for (size_t i = 0; i < others->count; i++) {
    const char *path = others->items[i];
    if (is_of_stuck && ends_with(path, profile_kind_named("stuck")->suffix))
      return path;
    struct profile *p = profile_new();
    const bool has_values = ends_with(path, kind->suffix) &&
                            input_file_read(p, path) == NULL &&
                            p->sample_count > 0;
    profile_free(p);
    if (has_values)
      return path;
  }
  return NULL;
}

// Says that the profile of the kind has no values, or that only that of another
// process has some.
static void say_none(const struct profile_kind *kind,
                     const struct file_names *others) {
  const char *other = other_with_values(kind, others);
  if (!other) {
    fprintf(stderr, "\n%s profile: %s\n", kind->name, kind->none);
    return;
  }
  fprintf(stderr, "\n%s profile: empty, but not that of another process\n",
          kind->name);
  print_command(kind->command, other);
}

// Shows the profile of the kind, or says that it has no values, and then sets
// *is_said. Returns whether it has any.
static bool show_kind(const struct options *o, const struct profile_kind *kind,
                      const struct written_files *f, size_t i, int64_t start_ns,
                      const struct style *style, bool *is_said) {
  if (show_profile(o, kind, &f->items[i], start_ns, style, false))
    return true;
  if (kind->none) {
    say_none(kind, &f->others);
    *is_said = true;
  }
  return false;
}

static bool is_of(const struct written_file *file, const char *kind) {
  return ends_with(file->path, profile_kind_named(kind)->suffix);
}

void show_written(const struct options *o, const struct written_files *f,
                  int64_t start_ns) {
  const struct style style = style_of_error(o->colour);
  bool has_any = false, is_said = false;
  for (size_t i = 0; i < f->count; i++)
    if (is_of(&f->items[i], "memory"))
      has_any |= show_rest_of_memory(o, &f->items[i], start_ns, &style);
  for (const struct profile_kind *k = profile_kinds; k->name; k++)
    for (size_t i = 0; i < f->count; i++)
      if (k->is_reported && ends_with(f->items[i].path, k->suffix))
        has_any |= show_kind(o, k, f, i, start_ns, &style, &is_said);
  for (size_t i = 0; i < f->count; i++)
    has_any |= is_of(&f->items[i], "trace") && show_trace(f->items[i].path);
  // An empty table of the heap is the answer only if nothing else was asked.
  for (size_t i = 0; i < f->count && !has_any && !is_said; i++)
    has_any = is_of(&f->items[i], "heap") &&
              show_profile(o, profile_kind_named("heap"), &f->items[i],
                           start_ns, &style, true);
  for (size_t i = 0; i < f->count; i++)
    if (is_of(&f->items[i], "trace") || is_of(&f->items[i], "locks") ||
        is_of(&f->items[i], "threads") || is_of(&f->items[i], "stuck"))
      print_command(profile_kind_of(f->items[i].path)->command,
                    f->items[i].path);
}
