// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: all addresses of a profile, a report, a list of threads or a trace
// are asked about together, however many there are. A request is about one file
// and has at most 1,024 addresses.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -fno-sanitize=all -D_GNU_SOURCE -Dmprof_helper_send=send_counted \
// RUN:   "-DMPROF_SYMBOLIZER_PLACES=\"%build/bin\"" \
// RUN:   -c %rt/symbolize/symbolizers.c -o symbolizers.o
// RUN: %unit -fno-omit-frame-pointer -fno-sanitize=all -D_GNU_SOURCE %s symbolizers.o %rtlib \
// RUN:   -Wl,-z,muldefs -o app
// RUN: %run{symbolizer_cache=0} ./app pprof 3 && gzip -dc pprof | grep -ac code
// RUN: %run{symbolizer_cache=0} ./app text 3 && grep -cP '^#\t0x\w+\tcode\t' text | grep -x 3000
// RUN: %run{symbolizer_cache=0} ./app list 3 && grep -cx code list | grep -x 3000
// RUN: %run{symbolizer_cache=0:report_std=1} ./app report 1
// RUN: grep -c 'in code' report | grep -x 1000
// Many addresses are asked about in two parts, without loss.
// RUN: %unit -fno-omit-frame-pointer -fno-sanitize=all -D_GNU_SOURCE -DSTACKS=500 -DSNAP_MAX=512 %s \
// RUN:   symbolizers.o %rtlib -Wl,-z,muldefs -o many
// RUN: %run{symbolizer_cache=0} ./many pprof 25
// RUN: %run{symbolizer_cache=0} ./many text 25
// RUN: grep -cP '^#\t0x\w+\tcode\t' text | grep -x 25000
// The stacks of the trace are in the program, and may be in libc.
// RUN: %run_quiet{symbolizer_cache=0} ./app trace 2 && grep -a log_deep trace

#include "core.h"
#include "snap.h"

#include "mprof/mprof.h"
#include "process/helper_process.h"
#include "process/process.h"
#include "thread_stacks/thread_stacks.h"

#ifndef STACKS
#define STACKS 60
#endif
enum { DEPTH = 50 };

__attribute__((noinline)) void code(void) {
  __asm__ volatile(".fill 26000, 1, 0x90");
}

static unsigned long requests;

long send_counted(int fd, const void *data, size_t len) {
  requests += len > 0; // an empty message ends mprof
  return mprof_helper_send(fd, data, len);
}

static int write_list(struct mprof_outfile *f) {
  static struct mprof_thread_slot slots[STACKS];
  static struct mprof_thread_slot *v[STACKS];
  struct mprof_thread_stacks s = {.v = v, .len = STACKS};
  struct mprof_profile_request r = {
      .row = &mprof_profile_rows[MPROF_PROFILE_threads],
      .form = MPROF_FORM_LIST,
      .copy = &s};
  for (unsigned i = 0; i < STACKS; i++) {
    slots[i].stack = (struct mprof_bucket *)snap.samples[i].bucket;
    v[i] = &slots[i];
  }
  return mprof_profile_put(f, &r);
}

// Logs an event on a stack with `depth` different return addresses.
__attribute__((noinline)) static void log_deep(int depth) {
#define CALL(n)                                                                \
  case n:                                                                      \
    log_deep(n - 1);                                                           \
    __asm__ volatile("# call " #n);                                            \
    break
  switch (depth) {
    CALL(1);
    CALL(2);
    CALL(3);
    CALL(4);
    CALL(5);
    CALL(6);
  default:
    mprof_trace_log(0, "key", "text");
  }
}

static int write_trace(const char *path) {
  const int error = mprof_trace_start(path);
  log_deep(6);
  return error != 0 ? error : mprof_trace_stop();
}

int main(int argc, char **argv) {
  NEED(argc == 3);
  const char *form = argv[1];
  CHECK(mprof_process_ready());
  snap.rate = 1;
  for (unsigned i = 0; i < STACKS; i++) {
    mprof_pc stack[DEPTH];
    for (unsigned k = 0; k < DEPTH; k++)
      stack[k] = snap_pc(code, 1 + i * DEPTH + k);
    snap_add(1000 + i, 1, 1, DEPTH, stack);
  }
  if (strcmp(form, "pprof") == 0)
    CHECK_EQ(snap_write(form, MPROF_PROFILE_heap, MPROF_FORM_PPROF), 0);
  else if (strcmp(form, "text") == 0)
    CHECK_EQ(snap_write(form, MPROF_PROFILE_heap, MPROF_FORM_TEXT), 0);
  else if (strcmp(form, "trace") == 0)
    CHECK_EQ(write_trace(form), 0);
  else if (strcmp(form, "list") == 0)
    CHECK_EQ(SNAP_WRITE(form, false, write_list(f)), 0);
  else
    CHECK_EQ(snap_report(form), 0);
  const unsigned long most = strtoul(argv[2], NULL, 10);
  if (strcmp(form, "trace") == 0)
    CHECK(requests > 0 && requests <= most);
  else
    CHECK_EQ(requests, most);
  return 0;
}
