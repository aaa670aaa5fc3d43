// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof log: reads an allocation log. mprof-alloc-log is another name of it.

#include "commands/add_names.h"
#include "commands/show_log.h"
#include "files/read_alloc_log.h"
#include "terminal/pager.h"
#include "terminal/style.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

// Reads --top. Returns whether the value is a number.
static bool read_limit(const struct options *options, size_t *limit) {
  *limit = 10;
  if (!options->top)
    return true;
  char *end;
  *limit = strtoul(options->top, &end, 10);
  if (*options->top >= '0' && *options->top <= '9' && !*end)
    return true;
  complain(options, "--top=%s is not a number; usage: --top=N", options->top);
  return false;
}

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
            ": earlier records are missing\n",
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
  if (!options->no_pager && !options->former_name)
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
  char before[64];
  snprintf(before, sizeof before, "%s: note: ",
           options->former_name ? options->former_name : "mprof log");
  print_notes(stderr, before, log, NULL);
  begin_output(options);
  show_records(stdout, &names);
  log_names_free(&names);
}

static void print_lists(const struct options *options, const struct log *log,
                        size_t limit) {
  const struct alloc_log *events = log->events;
  struct log_pairs pairs = log_pairs_of(events);
  struct live_rows live = live_rows_of(events, &pairs, limit);
  struct lifetime_rows lifetimes = lifetime_rows_of(events, &pairs, limit);
  struct log_names names = log_names_new(events);
  for (size_t i = 0; i < live.count; i++)
    log_names_want(&names, live.rows[i].stack);
  for (size_t i = 0; i < lifetimes.count; i++)
    log_names_want(&names, lifetimes.rows[i].stack);
  for (size_t i = 0; i < pairs.freed_twice_count && i < limit; i++) {
    const struct log_double_free *d = &pairs.freed_twice[i];
    log_names_want(&names, events->records[d->alloc].stack);
    log_names_want(&names, events->records[d->free].stack);
    log_names_want(&names, events->records[d->again].stack);
  }
  find_names(options, &names);
  begin_output(options);
  print_summary(log, &pairs);
  show_live(stdout, &names, &pairs, &live);
  show_lifetimes(stdout, &names, &pairs, &lifetimes);
  show_freed_twice(stdout, &names, &pairs, limit);
  log_names_free(&names);
  free(live.rows);
  free(lifetimes.rows);
  log_pairs_free(&pairs);
}

int command_log(const struct options *options) {
  size_t limit;
  if (!read_limit(options, &limit) || !add_names_check(options))
    return STATUS_ERROR;
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
  if (options->records)
    print_records(options, &log);
  else
    print_lists(options, &log, limit);
  alloc_log_free(log.events);
  return STATUS_OK;
}
