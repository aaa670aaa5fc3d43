// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever bytes an allocation log has, mprof log does not read outside
// of the log or leak memory, and prints no control characters. If a log can be
// read, each beginning of it can be read, too.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir seeds new
// RUN: %python -B %S/Inputs/alloc_log_seeds.py seeds
// RUN: printf '"%%s"\n' 'tracealloc(0x' 'tracefree(0x' 'tracegc()\x0a' \
// RUN:   'end tracegc\x0a' ', custom' ', gc' 'thread ' '[truncated]' \
// RUN:   '# module ' '# modules' '# lost ' '# heap_rate ' '\x0a\x0a' > words
// RUN: T=%src/tools/mprof && %clang -std=gnu11 -D_GNU_SOURCE -g -O1 \
// RUN:   %fuzzer \
// RUN:   -I$T -I%src/tools -I%src/rt %s %tools_fuzzed -o fuzz
// RUN: %S/Inputs/run.sh -runs=8000 -max_len=4096 -dict=words new

#include "commands/show_log.h"
#include "files/read_alloc_log.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') ||
        text[i] == 0x7f)
      abort();
}

static void check_pairs(const struct log_pairs *p) {
  if (p->live_count + p->pair_count > p->allocs ||
      p->pair_count + p->freed_twice_count > p->frees)
    abort();
  for (size_t i = 0; i < p->pair_count; i++)
    if (p->pairs[i].alloc >= p->pairs[i].free)
      abort();
}

// Prints all that mprof log can print.
static void show(const struct alloc_log *log, size_t limit) {
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  struct log_pairs pairs = log_pairs_of(log);
  check_pairs(&pairs);
  struct live_rows live = live_rows_of(log, &pairs, limit);
  struct lifetime_rows lifetimes = lifetime_rows_of(log, &pairs, limit);
  struct log_names names = log_names_new(log);
  for (size_t i = 0; i < log->stack_count; i++)
    log_names_want(&names, (uint32_t)i);
  show_live(out, &names, &pairs, &live);
  show_lifetimes(out, &names, &pairs, &lifetimes);
  show_freed_twice(out, &names, &pairs, limit);
  show_records(out, &names);
  fclose(out);
  check_text(text, length);
  free(text);
  log_names_free(&names);
  free(live.rows);
  free(lifetimes.rows);
  log_pairs_free(&pairs);
}

// Reads the log. Returns the number of records, or -1.
static long read_log(const uint8_t *data, size_t size, bool is_shown) {
  struct alloc_log *log = alloc_log_new();
  struct log_part part;
  FILE *file = fmemopen((void *)data, size, "r");
  char *error =
      file ? read_alloc_log_part(file, "log", log, &part) : strdup("");
  const long count = error ? -1 : (long)log->record_count;
  if (!error && is_shown)
    show(log, size % 5);
  free(error);
  alloc_log_free(log);
  return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const long count = read_log(data, size, true);
  const uint8_t *head = size ? memchr(data, '\n', size) : NULL;
  if (count < 0 || !head)
    return 0;
  const size_t least = (size_t)(head - data) + 1;
  const size_t half = least + (size - least) / 2, most = size - 1;
  const long first = read_log(data, half, false),
             second = most > half ? read_log(data, most, false) : count;
  if (first < 0 || second < first || count < second)
    abort();
  return 0;
}
