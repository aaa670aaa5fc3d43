// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof traces: the stacks with the largest values.

#include "commands/input.h"
#include "commands/json_view.h"
#include "commands/name_locks.h"
#include "commands/options.h"
#include "commands/sarif.h"
#include "commands/show_orders.h"
#include "commands/show_waits.h"
#include "common/memory.h"
#include "common/plural.h"
#include "common/saturate.h"
#include "files/bytes.h"
#include "names/lock_names.h"
#include "terminal/quantity.h"
#include "terminal/style.h"
#include "view/shown_frames.h"
#include "view/stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- labels of the samples of a stack ---

enum { MAX_VALUES = 4 };

struct counted {
  struct label label;
  uint64_t count;
};

static int by_label(const void *x, const void *y) {
  const struct label *a = &((const struct counted *)x)->label;
  const struct label *b = &((const struct counted *)y)->label;
  if (a->key != b->key)
    return a->key < b->key ? -1 : 1;
  if (a->str != b->str)
    return a->str < b->str ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

// Adds up equal labels of a sorted array. Returns the new length.
static size_t add_up(struct counted *items, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (kept && by_label(&items[kept - 1], &items[i]) == 0)
      items[kept - 1].count += items[i].count;
    else
      items[kept++] = items[i];
  return kept;
}

static int by_count(const void *x, const void *y) {
  const struct counted *a = x, *b = y;
  return a->count != b->count ? (a->count > b->count ? -1 : 1) : by_label(x, y);
}

static void print_key(const struct view *v, struct counted *items, size_t count,
                      FILE *out) {
  const char **strings = v->profile->strings;
  qsort(items, count, sizeof *items, by_count);
  fputs("    ", out);
  style_put(out, strings[items[0].label.key]);
  fputs(": ", out);
  for (size_t i = 0; i < count && i < MAX_VALUES; i++) {
    const struct label *l = &items[i].label;
    if (i)
      fputs(", ", out);
    if (l->str)
      style_put(out, strings[l->str]);
    else
      fprintf(out, "%" PRId64, l->number);
  }
  if (count > MAX_VALUES)
    fprintf(out, " and %zu other%s", count - MAX_VALUES,
            plural(count - MAX_VALUES));
  fputc('\n', out);
}

// Prints a line for each key, such as "    lock: queue (0x7f01), pool
// (0x7f02)". A key with many values gets the first ones and the number of the
// others. The sizes of blocks (label "bytes") are not printed. Labels of
// different waits are printed together.
static void show_labels(const struct view *v, const struct stack_table *t,
                        const struct stack_row *row, FILE *out) {
  const struct profile *p = v->profile;
  struct counted *items = NULL;
  size_t count = 0, capacity = 0;
  const bool has_waits = show_waits(v, t, row, out);
  for (uint32_t i = row->first_stack; i != NO_STACK; i = t->next_stack[i]) {
    const struct sample *s = &p->samples[v->stacks[i].sample];
    for (uint32_t k = 0; k < s->label_count; k++) {
      const struct label *l = &p->labels[s->first_label + k];
      if (strcmp(p->strings[l->key], "bytes") != 0 &&
          !(has_waits && is_label_of_wait(p->strings[l->key])))
        *APPEND(items, count, capacity) =
            (struct counted){*l, (uint64_t)size_of(v->stacks[i].value)};
    }
  }
  if (count)
    qsort(items, count, sizeof *items, by_label);
  count = add_up(items, count);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i; end < count && items[end].label.key == items[i].label.key;)
      end++;
    print_key(v, items + i, end - i, out);
  }
  free(items);
}

// --- texts of the runtime, such as the report of stuck threads ---

// Returns whether the line is "MProf VERSION TITLE".
static bool is_first_line(const char *line, const char *title) {
  static const char maker[] = "MProf ";
  if (strncmp(line, maker, strlen(maker)) != 0)
    return false;
  const char *version = line + strlen(maker);
  const size_t length = strcspn(version, " \n");
  const size_t rest = strlen(title);
  return version[length] == ' ' &&
         strncmp(version + length + 1, title, rest) == 0 &&
         version[length + 1 + rest] == '\n';
}

// Returns the text of the file, with the names of locks, if its first line is
// "MProf VERSION TITLE", or else NULL.
static char *read_report(const struct options *options, const char *path,
                         const char *title) {
  struct bytes bytes;
  // A pipe can be read only once, and the profile's reader needs its data.
  if (input_is_pipe(path) || bytes_read(path, &bytes) != NULL)
    return NULL;
  char *text = zeroed(bytes.length + 1, 1);
  if (bytes.length)
    memcpy(text, bytes.at, bytes.length);
  free(bytes.at);
  if (is_first_line(text, title))
    return name_locks(options, text);
  free(text);
  return NULL;
}

// Prints such a file. Returns whether it is one.
static bool show_report(const struct options *options, const char *path,
                        const char *title) {
  char *text = read_report(options, path, title);
  if (!text)
    return false;
  input_begin_output(options);
  for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
    style_put(stdout, line);
    if (rest)
      putchar('\n');
  }
  return true;
}

bool cycles_section(const struct options *o, const char *path, size_t limit) {
  char *text = read_report(o, path, "stuck threads");
  char *at = text ? strstr(text, "\nCycle ") : NULL;
  size_t cycles = 0;
  if (at)
    puts("\n## Cycles of stuck threads");
  // Each cycle and each thread is a paragraph, which ends with an empty line,
  // or with a file that was cut off. Other text follows the threads of the last
  // cycle.
  for (char *end; at; at = end ? end + 1 : NULL) {
    if ((end = strstr(at + 1, "\n\n")) != NULL)
      *end = '\0';
    if (strncmp(at, "\nCycle ", 7) == 0 && (!limit || cycles < limit))
      cycles++;
    else if (strncmp(at, "\nthread ", 8) != 0)
      break;
    putchar('\n');
    for (char *rest = at + 1, *line; (line = strsep(&rest, "\n")) && *line;) {
      fputs("    ", stdout);
      style_put(stdout, line);
      putchar('\n');
    }
  }
  free(text);
  return cycles > 0;
}

// --- the commands ---

static void print_line(const char *text, const struct style *style, FILE *out) {
  fputs("    ", out);
  style_put_parts(out, text, style->width > 4 ? style->width - 4 : 0);
}

// Prints the frames. A frame that calls itself directly is printed once, with
// the number of its calls.
static void print_frames(const struct view *v, const struct shown_frame *frames,
                         uint32_t count, const struct style *style, FILE *out) {
  for (uint32_t i = 0; i < count;) {
    uint32_t repeats = 1;
    while (i + repeats < count && frames[i + repeats].frame == frames[i].frame)
      repeats++;
    print_line(frame_parts(v, &frames[i]).text, style, out);
    if (repeats > 1)
      fprintf(out, "  (%u times)", repeats);
    fputc('\n', out);
    i += repeats;
  }
  if (count == 0)
    fputs("    [no stack]\n", out);
}

static void print_rows(const struct view *v, const struct stack_table *t,
                       size_t count, const struct style *style, FILE *out) {
  for (size_t i = 0; i < count; i++) {
    const struct stack_row *r = &t->rows[i];
    if (style->has_colour)
      fputs("\033[1m", out);
    fprintf(out, "\n%s  %s",
            quantity_with_error(r->value, r->variance, v->unit, style->has_utf8)
                .text,
            quantity_share(r->value, v->total).text);
    if (style->has_colour)
      fputs("\033[0m", out);
    fputc('\n', out);
    show_labels(v, t, r, out);
    print_frames(v, &t->frames[r->first], r->count, style, out);
  }
}

void stuck_section(const struct view *v, size_t limit, FILE *out) {
  const struct style plain = {.has_utf8 = true};
  struct stack_table t = stacks_of(v, false);
  show_wait_cycles(v, out);
  print_rows(v, &t, limit && limit < t.count ? limit : t.count, &plain, out);
  stacks_free(&t);
}

// Prints the stacks of the view, each with its value, its labels and its
// frames.
static void print_stacks(const struct view *v, const struct options *options,
                         size_t limit, bool is_json) {
  struct stack_table t = stacks_of(v, options->std);
  const size_t count = limit && limit < t.count ? limit : t.count;
  if (is_json) {
    json_put_traces(stdout, options, v, &t, count);
    return;
  }
  const struct style style = input_begin_output(options);
  input_print_title(v, stdout, &style);
  show_wait_cycles(v, stdout);
  print_rows(v, &t, count, &style, stdout);
  input_print_end(v, stdout, &style, count, t.count, "stacks", "-n 0");
  stacks_free(&t);
}

// --- SARIF ---

// Returns ", waiting for NAME" if the threads of the stack wait for a lock with
// a name, or "". The caller frees it.
static char *waiting_for(const struct view *v, const struct stack_row *row) {
  const struct profile *p = v->profile;
  const struct sample *s = &p->samples[v->stacks[row->first_stack].sample];
  const struct label *l = profile_label(p, s, "lock");
  const char *text = l ? p->strings[l->str] : "";
  const size_t length = lock_name_length(text);
  return text_of("%s%.*s", length ? ", waiting for " : "", (int)length, text);
}

// Prints the stuck threads. Returns the number of their stacks.
static size_t print_stuck_sarif(const struct options *options,
                                const struct view *v, size_t limit) {
  struct stack_table t = stacks_of(v, options->std);
  struct sarif_results results = {0};
  for (size_t i = 0; i < t.count && (!limit || i < limit); i++) {
    const struct stack_row *row = &t.rows[i];
    char *waiting = waiting_for(v, row);
    struct sarif_result r = {
        .rule = SARIF_STUCK,
        .value = (double)row->value,
        .message = text_of("%" PRId64 " thread%s can never continue%s",
                           row->value, plural((uint64_t)row->value), waiting)};
    sarif_add_stack(&r, (struct sarif_stack){.frames = &t.frames[row->first],
                                             .count = row->count});
    free(waiting);
    *APPEND(results.items, results.count, results.capacity) = r;
  }
  sarif_print(stdout, options, v, &results);
  const size_t count = results.count;
  sarif_free(&results);
  stacks_free(&t);
  return count;
}

// Prints a profile of mistakes. Returns the exit status.
static int print_sarif(const struct options *options, const struct view *v,
                       size_t limit) {
  size_t count;
  limit = options->count ? limit : 0;
  if (strcmp(v->type_name, "lockorder") == 0)
    count = show_orders_sarif(options, v, limit);
  else if (strcmp(v->type_name, "threadleak") == 0)
    count = print_stuck_sarif(options, v, limit);
  else
    return complain(options,
                    "--format=sarif shows orders of locks and stuck threads, "
                    "not %s; mprof leaks shows leaks",
                    v->type_name);
  return count ? STATUS_FOUND : STATUS_OK;
}

int command_traces(const struct options *options) {
  size_t limit;
  const bool is_json = option_is(options->format, "json");
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  // The frames of a stack are calls, so show the lines of the calls.
  struct options by_lines = *options;
  by_lines.lines = !options->functions && !options->files;
  struct view *v = input_view_of_values(&by_lines);
  if (!v)
    return STATUS_ERROR;
  if (option_is(options->format, "sarif"))
    return print_sarif(options, v, limit);
  print_stacks(v, options, limit, is_json);
  return STATUS_OK;
}

// Shows the stacks of a profile of threads. wanted: the sample type that the
// profile must have. other: another name of it. none: the text for an empty
// profile. how: how to get a profile.
static int show_threads(const struct options *options, const char *wanted,
                        const char *other, const char *none, const char *how) {
  struct options all = *options;
  size_t limit;
  const bool is_json = option_is(options->format, "json");
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  all.lines = true;
  struct view *v = input_view(&all);
  if (!v)
    return STATUS_ERROR;
  if (strcmp(v->type_name, wanted) != 0 && strcmp(v->type_name, other) != 0)
    return complain(
        options, "%s is a profile of %s, not of %s; %s", options->paths[0],
        v->type_name, wanted,
        strcmp(v->type_name, "lockorder") == 0 ? "mprof traces shows it" : how);
  if (option_is(options->format, "sarif"))
    return print_sarif(options, v, limit);
  print_stacks(v, options, options->count ? limit : 0, is_json);
  if (v->profile_total == 0 && !is_json)
    puts(none);
  return STATUS_OK;
}

int command_threads(const struct options *options) {
  return show_threads(options, "threads", "goroutine",
                      "the profile has no thread",
                      "to write one, run the program with mprof run --threads");
}

int command_stuck(const struct options *options) {
  if (options->path_count == 1 && !options->format &&
      show_report(options, options->paths[0], "stuck threads"))
    return STATUS_OK;
  return show_threads(options, "threadleak", "goroutineleak",
                      "no stuck thread was found",
                      "to write one, run the program with mprof run --stuck");
}
