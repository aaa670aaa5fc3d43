// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever bytes a file of the option persist has, mprof recover does
// not read outside of it, leaks no memory and ends. Each profile that it makes
// can be written, and is read back. The trace can be written.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir seeds new
// RUN: %python %S/Inputs/persist_seeds.py seeds
// RUN: %mprof recover seeds/0 -o s > out 2> err && FileCheck %s < out
// CHECK: s.heap.pb.gz: 2 stacks
// CHECK: s.heapx.pb.gz: 2 stacks
// CHECK: s.peak.pb.gz: 2 stacks
// CHECK: s.cpu.pb.gz: 1 stack
// CHECK: s.block.pb.gz: 1 stack
// CHECK: s.mutex.pb.gz: 1 stack
// CHECK: s.threadcreate.pb.gz: 1 stack
// CHECK: s.sessions.pb.gz: 1 stack
// CHECK: s.trace: {{[0-9]+}} events
// RUN: for i in 4 8; do %mprof recover seeds/$i -o s$i || exit 1; done
// RUN: %trace_check -q s.trace s4.trace s8.trace
// RUN: T=%src/tools/mprof && %clang -std=gnu11 -D_GNU_SOURCE -g -O1 \
// RUN:   %fuzzer -DMPROF_RUNTIME \
// RUN:   -I$T -I%src/tools -I%src/rt -I%src/include %s %tools_fuzzed -lz -lm -o fuzz
// RUN: %S/Inputs/run.sh -runs=4000 -max_len=8192 new

#include "files/read_profile.h"
#include "files/write_profile.h"
#include "persist/profiles.h"
#include "persist/trace.h"
#include "sys/persistent.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Samples of different rates become one sample in the file.
static void check(const struct profile *p) {
  struct bytes written = write_profile(p);
  struct profile *again = profile_new();
  if (bytes_unzip(&written) != NULL ||
      read_profile(again, &written, NULL) != NULL ||
      again->sample_count > p->sample_count)
    abort();
  profile_free(again);
  free(written.at);
}

static void write_trace(struct persist_file *file,
                        enum mprof_persist_root root) {
  const char *error;
  char *out;
  size_t length;
  struct persist_trace *t = persist_trace_read(file, root, &error);
  if (!t)
    return;
  FILE *f = open_memstream(&out, &length);
  persist_trace_write(t, f);
  fclose(f);
  free(out);
  persist_trace_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct persist persist;
  struct persist_file file;
  // A copy ends where the file ends, so that a read behind it is found.
  struct bytes bytes = {.at = malloc(size ? size : 1), .length = size};
  memcpy(bytes.at, data, size);
  // Most changes of the head would only be refused.
  struct mprof_persist_head *head = (struct mprof_persist_head *)bytes.at;
  if (size >= sizeof(*head) && size % 8 != 7)
    head->check = mprof_persist_check(head);
  if (persist_open(&file, &bytes) == NULL) {
    persist_profiles(&file, &persist);
    for (size_t i = 0; i < persist.count; i++) {
      if (strchr(persist.profiles[i].name, '/')) // it becomes a part of a path
        abort();
      check(persist.profiles[i].profile);
    }
    persist_free(&persist);
    write_trace(&file, MPROF_PERSIST_TRACE);
    write_trace(&file, MPROF_PERSIST_ENDED_TRACE);
  }
  persist_close(&file);
  free(bytes.at);
  return 0;
}
