// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each value of a heap profile has the error of the rate at which its
// blocks were sampled, also if the rate has changed since: sampled blocks keep
// their error, and counted blocks get none. This holds for profiles at exit and
// their report, for merged, recovered and heapx profiles, and in the page. The
// messages do not claim that all blocks were sampled at the last rate.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o app
// RUN: env MPROF_OPTIONS=heap_rate=32k:seed=1:heapx=1:log_path=one ./app 1
// RUN: env MPROF_OPTIONS=heap_rate=1:seed=1:heapx=1:log_path=two ./app 32768
// RUN: not --crash env MPROF_OPTIONS=heap_rate=32k:seed=1:persist=one.p ./app 1 kill
// RUN: not --crash env MPROF_OPTIONS=heap_rate=1:seed=1:persist=two.p ./app 32768 kill
//
// The sampled blocks of one are those before the change, and those of two the
// blocks after it.
// RUN: cat one.*.txt | FileCheck %s --check-prefixes=REPORT,ONE-REPORT
// RUN: cat two.*.txt | FileCheck %s --check-prefixes=REPORT,TWO-REPORT
// ONE-REPORT: Rate:      1 now; some samples were taken at another rate
// TWO-REPORT: Rate:      32,768 now; some samples were taken at another rate
// REPORT: In use: {{.*}}standard error
// REPORT: Stacks with the most bytes in use
// ONE-REPORT-DAG: 2.29 MiB {{.*}} in 3,000 blocks, {{[0-9.]+%$}}
// TWO-REPORT-DAG: 4.77 MiB {{.*}} in 5,000 blocks, {{[0-9.]+}}%, 5,000 samples{{$}}
// REPORT-DAG: samples, standard error
// REPORT: SUMMARY: {{.*}} and at other rates{{$}}
//
// RUN: for f in one two; do mv $f.*.heap.pb.gz $f.heap; mv $f.*.heapx.pb.gz $f.x; \
// RUN:   %mprof recover $f.p -o $f > out; \
// RUN:   %mprof merge $f.heap -o $f.merged; %mprof merge $f.merged -o $f.again; \
// RUN:   for k in heap heap.pb.gz merged again; do \
// RUN:     %mprof top $f.$k > out && FileCheck --check-prefix=$f %s < out || exit 1; \
// RUN:   done; done
// one-DAG: {{^ *[0-9.]+ \+- [0-9.]+ MiB .*}} before
// one-DAG: {{^ *2\.29 MiB .*}} after
// two-DAG: {{^ *4\.77 MiB .*}} before
// two-DAG: {{^ *[0-9.]+ \+- [0-9.]+ MiB .*}} after
// RUN: %mprof top --sample=alloc_slack_space one.x | FileCheck %s --check-prefix=SLACK
// SLACK: {{^ *[0-9.]+ \+- .*}} before
// RUN: %mprof info one.heap | FileCheck %s --check-prefix=INFO
// INFO: period: 1 B of space; some samples were taken at another rate
// RUN: %mprof doctor one.heap | FileCheck %s --check-prefix=DOCTOR
// DOCTOR: heap_rate=1 now; some samples were taken at another rate
//
// Two profiles with different last rates: each sample keeps its own.
// RUN: %mprof merge one.heap two.heap -o both && %mprof top both > merged
// RUN: %mprof top one.heap two.heap > read
// RUN: tail -n +2 read > r && tail -n +2 merged > m && diff r m
// RUN: %python %src/test/Inputs/mprof_read.py one.heap | FileCheck %s --check-prefix=RAW
// RAW: sample: {{.*}} bytes=1001 heap_rate=32768

#include <mprof/mprof.h>
#include <signal.h>
#include <stdlib.h>

static void *volatile p;

__attribute__((noinline)) static void before(void) {
  for (int i = 0; i < 5000; i++)
    p = malloc(1001);
}

__attribute__((noinline)) static void after(void) {
  for (int i = 0; i < 3000; i++)
    p = malloc(800);
}

int main(int argc, char **argv) {
  before();
  mprof_set_heap_rate(strtoul(argv[1], NULL, 10));
  after();
  if (argc > 2)
    raise(SIGKILL);
  return 0;
}
