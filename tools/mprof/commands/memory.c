// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof memory: where all resident memory of a process is.

#include "common/memory.h"
#include "commands/add_names.h"
#include "commands/input.h"
#include "commands/options.h"
#include "commands/own_place.h"
#include "commands/show_memory.h"
#include "files/json.h"
#include "files/shown_path.h"

#include <inttypes.h>
#include <stdlib.h>

// Number of rows of a part without the option --count, and the smallest part of
// the total, in percent, that they must have.
enum { ROWS = 5, NOTICEABLE = 1 };
enum { HOLES = 20 }; // number of rows of --holes

// --- JSON ---

static void print_usage(FILE *out, const struct memory_usage *u) {
  fprintf(out,
          "\"rss\": %" PRId64 ", \"pss\": %" PRId64
          ", \"private_dirty\": %" PRId64 ", \"swap\": %" PRId64,
          u->rss, u->pss, u->private_dirty, u->swap);
}

static void print_name(FILE *out, const char *name, const char *text) {
  char *line = text_of("%s", text);
  for (char *c = line; *c; c++)
    if (*c == '\n')
      *c = ' ';
  fprintf(out, "\"%s\": ", name);
  json_string(out, line);
  free(line);
}

static void print_json(const struct view *v, const struct memory_parts *m,
                       FILE *out) {
  const char *command = input_comment(v->profile, "command"),
             *note = input_comment(v->profile, "note");
  fputs("{", out);
  print_name(out, "command", command ? command : "");
  fprintf(out, ", \"time_ns\": %" PRId64 ", ", v->profile->time_ns);
  print_usage(out, &m->total);
  fputs(",\n \"parts\": [", out);
  for (size_t i = 0; i < m->count; i++) {
    const struct memory_part *part = &m->parts[i];
    fputs(i ? ",\n  {" : "\n  {", out);
    print_name(out, "part", mprof_memory_part_name(part->id));
    fputs(", ", out);
    print_name(out, "text", part->text);
    fputs(", ", out);
    print_usage(out, &part->usage);
    fputs(",\n   \"rows\": [", out);
    for (size_t k = 0; k < part->row_count; k++) {
      fputs(k ? ",\n    {" : "\n    {", out);
      print_name(out, "name", part->rows[k].name);
      fputs(", ", out);
      print_usage(out, &part->rows[k].usage);
      if (part->rows[k].usage.used_beside)
        fprintf(out, ", \"used_beside\": %" PRId64,
                part->rows[k].usage.used_beside);
      fputs("}", out);
    }
    fputs("]}", out);
  }
  fputs("],\n ", out);
  print_name(out, "note", note ? note : "");
  fputs("}\n", out);
}

// --- the command ---

static struct view *read_view(const struct options *options) {
  struct profile *p = input_read(options, options->paths, options->path_count);
  if (!p)
    return NULL;
  if (!memory_is(p)) {
    complain(options,
             "%s is no memory profile; the option memory=1 writes "
             "PROGRAM.PID.memory.pb.gz at exit, and mprof memory PID reads a "
             "running process",
             options->paths[0]);
    return NULL;
  }
  add_names(options, p, NAMES_AUTOMATIC);
  char error[256];
  struct view *v =
      memory_view(p, input_view_options(options), error, sizeof error);
  if (!v)
    complain(options, "%s", error);
  return v;
}

static int complain_of_holes(const struct options *options,
                             const struct profile *p) {
  char *command = NULL;
  size_t length;
  FILE *out = open_memstream(&command, &length);
  if (out) {
    show_memory_put_finer(p, out);
    fclose(out);
  }
  complain(options,
           "no stack is known that keeps free memory of malloc; to sample more "
           "blocks, use %s (%s)",
           command ? command : "mprof run", document_place("memory.md"));
  free(command);
  return STATUS_ERROR;
}

int command_memory(const struct options *options) {
  size_t limit;
  if (!input_count(options, &limit) || !add_names_check(options))
    return STATUS_ERROR;
  if (options->over_time)
    return memory_over_time(options);
  struct view *v = read_view(options);
  if (!v)
    return STATUS_ERROR;
  struct memory_parts m;
  if (!memory_parts_of(v, &m))
    return complain(options,
                    "%s has samples of a kind that this version of "
                    "mprof does not know",
                    options->paths[0]);
  if (option_is(options->format, "json")) {
    print_json(v, &m, stdout);
    return STATUS_OK;
  }
  const struct memory_part *part = memory_part_find(&m, MPROF_MEMORY_LISTED);
  if (options->holes && (!part || part->usage.used_beside == 0))
    return complain_of_holes(options, v->profile);
  const struct memory_shown shown = {
      .limit = options->count   ? limit
               : options->holes ? HOLES
                                : ROWS,
      .least = options->count ? 1 : m.total.rss / 100 * NOTICEABLE,
      .is_holes = options->holes,
      .path = options->path_count == 1 ? shown_path(options->paths[0]) : NULL};
  const struct style style = input_begin_output(options);
  if (option_is(options->format, "md"))
    show_memory_markdown(v, &m, &shown, stdout);
  else
    show_memory(v, &m, &shown, stdout, &style);
  return STATUS_OK;
}
