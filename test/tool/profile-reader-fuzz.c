// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever bytes a profile has, mprof does not read outside of the
// file, and its views and writers do not either. A profile that is read,
// written and read again is the same.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir seeds new
// RUN: for i in 1 2 5; do %python %S/Inputs/random_profile.py $i 20 9 s.gz \
// RUN:   && gzip -dc s.gz > seeds/$i; done
// RUN: T=%src/tools/mprof && %clang -std=gnu11 -D_GNU_SOURCE -g -O1 \
// RUN:   %fuzzer \
// RUN:   -I$T -I%src/tools -I%src/rt %s %tools_fuzzed -lz -lpcre2-8 -lm -o fuzz
// RUN: %src/test/fuzz/Inputs/run.sh -runs=6000 -max_len=4096 new

#include "files/convert.h"
#include "files/read_profile.h"
#include "files/write_profile.h"
#include "view/functions.h"
#include "view/stacks.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *sink;

static void show(struct profile *p, const struct view_options *options) {
  char error[256];
  struct view *v = view_new(p, options, error, sizeof error);
  if (!v)
    return;
  for (int keeps_std = 0; keeps_std < 2; keeps_std++) {
    struct function_table t = functions_of(v, keeps_std, keeps_std);
    functions_free(&t);
  }
  write_folded(v, sink);
  write_speedscope(v, sink);
  write_callgrind(v, sink);
  write_chrome(v, sink);
  write_csv(v, sink);
  view_free(v);
}

static void ignore(void *arg, const char *text) { (void)arg, (void)text; }

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  sink = fopen("/dev/null", "we");
  return sink == NULL;
}

// Reads the profile that write_profile makes. It must be valid.
static void read_again(const struct profile *p) {
  struct bytes written = write_profile(p);
  struct profile *q = profile_new();
  if (bytes_unzip(&written) || read_profile(q, &written, NULL))
    abort();
  if (q->sample_count != p->sample_count || q->type_count != p->type_count ||
      memcmp(q->values, p->values, p->value_count * sizeof *p->values) != 0)
    abort();
  free(written.at);
  profile_free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const struct bytes bytes = {.at = (uint8_t *)data, .length = size};
  const struct read_report report = {ignore, NULL};
  struct profile *p = profile_new();
  read_profile(p, &bytes, &report);
  profile_free(p);
  p = profile_new();
  if (!read_profile(p, &bytes, NULL)) {
    show(p, &(struct view_options){.focus = "f", .ignore = "f1$"});
    show(p, &(struct view_options){.grain = GRAIN_LINES});
    show(p, &(struct view_options){.grain = GRAIN_FILES});
    if (p->sample_count)
      read_again(p);
  }
  profile_free(p);
  return 0;
}
