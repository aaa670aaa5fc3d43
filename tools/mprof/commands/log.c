// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof log: reads an allocation log.

#include "commands/add_names.h"
#include "commands/input.h"
#include "commands/show_log.h"
#include "common/memory.h"
#include "files/read_alloc_log.h"
#include "terminal/pager.h"
#include "terminal/style.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

// --- notes ---

struct log {
  const char *path;
  struct alloc_log *events;
  struct log_files files;
};

// Prints what the log lacks, each in a line that begins with `before`. pairs is
// NULL if allocations are not paired with frees.
static void print_notes(FILE *out, const char *before, const struct log *log,
                        const struct log_pairs *pairs) {
  const struct log_files *files = &log->files;
  if (files->lacks_part_before) {
    fputs(before, out);
    style_put(out, log->path);
    fputs(".1 is ignored: it is not the part of the log before ", out);
    style_put(out, log->path);
    fputc('\n', out);
  }
  if (files->first_number > 1)
    fprintf(out,
            "%sthe log begins with part %" PRIu64
            ": earlier records are missing, so leaks and double frees of the "
            "blocks in them are not shown; a log keeps its last two parts, and "
            "the option alloc_log_mb=N makes them N MiB long (default 64)\n",
            before, files->first_number);
  if (files->part.lost) {
    fputs(before, out);
    show_count(out, files->part.lost, "event");
    fputs(" lost\n", out);
  }
  if (pairs && pairs->lost_frees) {
    fputs(before, out);
    show_count(out, pairs->lost_frees, "block");
    fputs(" whose free is not in the log\n", out);
  }
  if (pairs && pairs->lost_allocs) {
    fputs(before, out);
    show_count(out, pairs->lost_allocs, "free");
    fputs(" of blocks whose allocation is not in the log\n", out);
  }
  if (files->part.is_cut)
    fprintf(out, "%sthe last record is cut off\n", before);
}

static void print_summary(const struct log *log,
                          const struct log_pairs *pairs) {
  const struct log_part *part = &log->files.part;
  printf("pid %" PRIu64 ", heap_rate ", part->pid);
  if (part->has_heap_rate)
    printf("%" PRIu64, part->heap_rate);
  else
    fputs("unknown", stdout);
  printf(", %.6f s, ", pairs->end);
  show_count(stdout, log->events->thread_count, "thread");
  putchar('\n');
  show_count(stdout, pairs->allocs, "allocation");
  fputs(" (", stdout);
  show_count(stdout, pairs->bytes, "byte");
  fputs("), ", stdout);
  show_count(stdout, pairs->frees, "free");
  fputs(", ", stdout);
  show_count(stdout, pairs->collections, "collection");
  putchar('\n');
  print_notes(stdout, "note: ", log, pairs);
}

// --- the output ---

// A reader of the output, such as head, has read enough.
static void end_at_closed_pipe(int signal) {
  (void)signal;
  _exit(STATUS_OK);
}

static void begin_output(const struct options *options) {
  signal(SIGPIPE, end_at_closed_pipe);
  if (!options->no_pager)
    pager_start();
}

// Finds the names of all stacks that log_names_want was called for.
static void find_names(const struct options *options, struct log_names *names) {
  if (!options->no_names)
    add_names(options, names->profile, NAMES_AT_ADDRESSES);
}

static void print_records(const struct options *options,
                          const struct log *log) {
  struct log_names names = log_names_new(log->events);
  for (size_t i = 0; i < log->events->stack_count; i++)
    log_names_want(&names, (uint32_t)i);
  find_names(options, &names);
  print_notes(stderr, "mprof log: note: ", log, NULL);
  begin_output(options);
  show_records(stdout, &names);
  log_names_free(&names);
}

// Makes a view of the wanted stacks, with a sample for each. Returns NULL after
// a message if an option is wrong.
static struct view *view_of(const struct options *options,
                            struct log_names *names, const bool *is_wanted) {
  const struct alloc_log *log = names->log;
  struct profile *p = names->profile;
  const string_id key = profile_text(p, "stack");
  const struct function cut = {.name = profile_text(p, "[truncated]")};
  const struct line line = {.function = profile_function(p, &cut)};
  const int64_t one = 1;
  p->type_count = 1;
  p->types[0] =
      (struct value_type){profile_text(p, "blocks"), profile_text(p, "count")};
  for (size_t i = 0; i < log->stack_count; i++) {
    const struct log_stack *s = &log->stacks[i];
    if (!is_wanted[i])
      continue;
    uint32_t *locations = zeroed(s->count, sizeof *locations);
    for (size_t k = 0; k < s->count; k++) {
      const uint32_t frame = log->stack_frames[s->first + k];
      const struct location other = {.address = log->frames[frame].address,
                                     .mapping = NO_MAPPING,
                                     .line_count = frame == LOG_TRUNCATED};
      locations[k] = names->locations[frame]
                         ? names->locations[frame] - 1
                         : profile_location(p, &other, &line);
    }
    // The label keeps equal stacks apart.
    const struct label label = {.key = key, .number = (int64_t)i + 1};
    profile_sample(p, locations, (uint32_t)s->count, &label, 1, 0, &one);
    free(locations);
  }
  struct view_options wanted = input_view_options(options);
  wanted.grain = GRAIN_LINES;
  char error[256];
  struct view *v = view_new(p, &wanted, error, sizeof error);
  if (!v)
    complain(options, "%s", error);
  names->view = v;
  names->keeps_std = options->std;
  names->view_stacks = zeroed(log->stack_count, sizeof(uint32_t));
  for (size_t i = 0; v && i < v->stack_count; i++) {
    const struct sample *s = &p->samples[v->stacks[i].sample];
    names->view_stacks[p->labels[s->first_label].number - 1] = (uint32_t)i + 1;
  }
  return v;
}

// Keeps the rows whose stacks are in the view, at most `limit`.
#define KEEP(Rows, Names, Limit)                                               \
  do {                                                                         \
    size_t kept = 0;                                                           \
    for (size_t i = 0; i < (Rows).count && kept < (Limit); i++)                \
      if (show_log_has(Names, (Rows).rows[i].stack))                           \
        (Rows).rows[kept++] = (Rows).rows[i];                                  \
    (Rows).count = kept;                                                       \
  } while (0)

static void want(struct log_names *names, bool *is_wanted, uint32_t stack) {
  is_wanted[stack] = true;
  log_names_want(names, stack);
}

static int print_lists(const struct options *options, const struct log *log,
                       size_t limit) {
  const struct alloc_log *events = log->events;
  // A stack is selected by names, so all stacks need names.
  const bool selects = options->focus || options->ignore || options->hide;
  const size_t most = selects ? SIZE_MAX : limit;
  struct log_pairs pairs = log_pairs_of(events);
  struct live_rows live = live_rows_of(events, &pairs, most);
  struct lifetime_rows lifetimes = lifetime_rows_of(events, &pairs, most);
  struct log_names names = log_names_new(events);
  names.selects = selects;
  bool *is_wanted = zeroed(events->stack_count, sizeof *is_wanted);
  for (size_t i = 0; i < live.count; i++)
    want(&names, is_wanted, live.rows[i].stack);
  for (size_t i = 0; i < lifetimes.count; i++)
    want(&names, is_wanted, lifetimes.rows[i].stack);
  for (size_t i = 0; i < pairs.freed_twice_count && i < most; i++) {
    const struct log_double_free *d = &pairs.freed_twice[i];
    want(&names, is_wanted, events->records[d->alloc].stack);
    want(&names, is_wanted, events->records[d->free].stack);
    want(&names, is_wanted, events->records[d->again].stack);
  }
  find_names(options, &names);
  const struct view *v = view_of(options, &names, is_wanted);
  if (v) {
    KEEP(live, &names, limit);
    KEEP(lifetimes, &names, limit);
    begin_output(options);
    print_summary(log, &pairs);
    show_live(stdout, &names, &pairs, &live);
    show_lifetimes(stdout, &names, &pairs, &lifetimes);
    show_freed_twice(stdout, &names, &pairs, limit);
  }
  log_names_free(&names);
  free(is_wanted);
  free(live.rows);
  free(lifetimes.rows);
  log_pairs_free(&pairs);
  return v ? STATUS_OK : STATUS_ERROR;
}

int command_log(const struct options *options) {
  size_t limit = 10;
  if (!option_number(options, "count", options->count, 0, SIZE_MAX, &limit) ||
      !add_names_check(options))
    return STATUS_ERROR;
  if (limit == 0)
    limit = SIZE_MAX;
  if (options->path_count > 1)
    return complain(options,
                    "name one log; usage: mprof log [OPTION]... LOG (LOG.1, "
                    "the part before LOG, is found by itself)");
  struct log log = {.path = options->paths[0], .events = alloc_log_new()};
  char *error = read_alloc_log(log.path, log.events, &log.files);
  if (error) {
    complain(options, "%s", error);
    free(error);
    alloc_log_free(log.events);
    return STATUS_ERROR;
  }
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  style_of_output(NULL); // sets the locale, which style_put needs
  int status = STATUS_OK;
  if (options->records)
    print_records(options, &log);
  else
    status = print_lists(options, &log, limit);
  alloc_log_free(log.events);
  return status;
}
