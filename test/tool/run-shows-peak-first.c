// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof run first shows the memory in use at the peak, and then what
// was left at exit. A program that frees nothing has one table, whose title
// says that the exit is the peak. Without a profile of the peak, and of
// snapshots, no title names the exit.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: tables() { grep -o -E '^[a-z]+_space( is 0| of [^,]*(, at .* after the start)?)' $1 \
// RUN:   | sed 's/, [^,]* after the start/ AGE/'; }
//
// RUN: %mprof run -o both --heap-rate=1 ./app 2> both.out
// RUN: FileCheck %s --check-prefix=BOTH < both.out
// BOTH: inuse_space of ./app, at the peak of the memory in use, {{[0-9.,]+ [a-zµ]+}} after the start, {{[0-9-]+ [0-9:]+ UTC$}}
// BOTH-NEXT: inuse_space
// BOTH-NEXT: 8.00 MiB 89 % {{.*}} burst run-shows-peak-first.c:[[#]]
// BOTH-NEXT: 1.00 MiB 11 % {{.*}} keep run-shows-peak-first.c:[[#]]
// BOTH: 9.00 MiB in total
// BOTH-NEXT: mprof top {{.*}}/both/mprof.app.{{[0-9]+}}.peak.pb.gz
// BOTH: inuse_space of ./app, at exit, {{[0-9.,]+ [a-zµ]+}} after the start, {{[0-9-]+ [0-9:]+ UTC$}}
// BOTH-NEXT: inuse_space
// BOTH-NEXT: 1.00 MiB 100 % {{.*}} keep run-shows-peak-first.c:[[#]]
// BOTH-NOT: burst
// BOTH: 1.00 MiB in total
// BOTH-NEXT: mprof top {{.*}}/both/mprof.app.{{[0-9]+}}.heap.pb.gz
//
// RUN: %mprof run -o one --heap-rate=1 ./app keeps 2> one.out
// RUN: FileCheck %s --check-prefix=ONE < one.out
// ONE: inuse_space of ./app keeps, at exit, which is the peak of the memory in use, {{[0-9.,]+ [a-zµ]+}} after the start, {{[0-9-]+ [0-9:]+ UTC$}}
// ONE: 9.00 MiB in total
// ONE-NEXT: mprof top {{.*}}.heap.pb.gz
// RUN: tables one.out | grep -c . | grep -x 1 && ls one/*.peak.pb.gz
//
// Everything is freed: what the program had allocated follows the peak.
// RUN: %mprof run -o freed --heap-rate=1 ./app frees 2> freed.out
// RUN: tables freed.out > freed.tables && FileCheck %s --check-prefix=FREED < freed.tables
// FREED: inuse_space of ./app frees, at the peak of the memory in use AGE
// FREED-NEXT: inuse_space is 0
// FREED-NEXT: alloc_space of ./app frees, at exit AGE
// FREED-NOT: {{.}}
//
// The user's own value prevails, and then no title names the exit.
// RUN: %mprof run -o option --heap-rate=1 --option=peak=0 ./app 2> option.out
// RUN: MPROF_OPTIONS=peak=0 %mprof run -o own --heap-rate=1 ./app 2> own.out
// RUN: for name in option own; do tables $name.out > $name.tables || exit 1; \
// RUN:   echo 'inuse_space of ./app' | diff - $name.tables || exit 1; \
// RUN:   if ls $name/*.peak.pb.gz; then exit 1; fi; done
//
// A peak of no bytes is not shown.
// RUN: %mprof run -o empty --heap-rate=1 ./app empty 2> empty.out
// RUN: ls empty/*.peak.pb.gz && tables empty.out > empty.tables && \
// RUN:   echo 'inuse_space of ./app empty' | diff - empty.tables
//
// Of the peaks of snapshots and of the exit, only the last is shown. Only the
// profile at exit is that of the exit.
// RUN: %mprof run -o shots --heap-rate=1 --option=dump_on_signal=URG ./app \
// RUN:   snapshot 2> shots.out
// RUN: ls shots/*.peak.pb.gz | grep -c . | grep -x 2
// RUN: tables shots.out > shots.tables && grep -c . shots.tables | grep -x 3
// RUN: FileCheck %s --check-prefix=SHOTS < shots.tables
// SHOTS: inuse_space of ./app snapshot, at the peak of the memory in use AGE
// SHOTS-NEXT: inuse_space of ./app snapshot{{$}}
// SHOTS-NEXT: inuse_space of ./app snapshot, at exit AGE
// RUN: not --crash %mprof run -o killed --heap-rate=1 \
// RUN:   --option=dump_on_signal=URG ./app killed 2> killed.out
// RUN: tables killed.out > killed.tables && grep -c . killed.tables | grep -x 2
// RUN: FileCheck %s --check-prefix=KILLED < killed.tables
// KILLED: inuse_space of ./app killed, at the peak of the memory in use AGE
// KILLED-NEXT: inuse_space of ./app killed{{$}}

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void *volatile small, *volatile large;

__attribute__((noinline)) static void keep(void) { small = malloc(1 << 20); }

__attribute__((noinline)) static void burst(void) { large = malloc(8 << 20); }

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "empty") == 0) {
    small = malloc(0);
    return 0;
  }
  keep();
  burst();
  if (strcmp(what, "snapshot") == 0)
    raise(SIGURG);
  if (strcmp(what, "killed") == 0) {
    free(large);
    raise(SIGURG);
    raise(SIGKILL);
  }
  if (strcmp(what, "keeps") != 0)
    free(large);
  if (strcmp(what, "frees") == 0)
    free(small);
  return 0;
}
