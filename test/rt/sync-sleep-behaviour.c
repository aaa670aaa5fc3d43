// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: nanosleep, clock_nanosleep, usleep and sleep behave with MProf as
// without it. Their results, data and errno do not differ. This also holds if
// the program is compiled with _FORTIFY_SOURCE.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: %mprof_clang -fmprof -O2 -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64 \
// RUN:   -pthread -I%src/test/Inputs %s -o checked
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./checked > checked.txt
// RUN: diff plain.txt checked.txt
//
// CHECK: sleep(0): 0
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

static void nanosleep_long(void *who) {
  struct timespec left = none;
  SHOW_NUMBER_AS(who, nanosleep(&minute, &left));
  say("most of it is left: %d", left.tv_sec > 30 && left.tv_sec <= 60);
}
static void clock_nanosleep_long(void *who) {
  struct timespec left = none;
  SHOW_AS(who, clock_nanosleep(CLOCK_MONOTONIC, 0, &minute, &left));
  say("most of it is left: %d", left.tv_sec > 30 && left.tv_sec <= 60);
}
static void clock_nanosleep_until(void *who) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 60000);
  SHOW_AS(who, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &late, NULL));
}
static void usleep_long(void *who) { SHOW_NUMBER_AS(who, usleep(60000000)); }
static void sleep_long(void *who) {
  errno = UNTOUCHED;
  unsigned left = sleep(60);
  int error = errno;
  say_result(who, "sleep(60)", left > 30 && left <= 60 ? "most" : "other",
             error);
}

static void use_sleeps(void) {
  struct timespec ms = {0, 1000000}, left = {77, 77};
  SHOW_NUMBER(nanosleep(&none, NULL));
  SHOW_NUMBER(nanosleep(&ms, &left));
  say("left %ld", (long)left.tv_sec);
  SHOW_NUMBER(nanosleep(&negative, &left));
  SHOW(clock_nanosleep(CLOCK_REALTIME, 0, &ms, NULL));
  SHOW(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ms, NULL));
  SHOW(clock_nanosleep(CLOCK_REALTIME, 0, &negative, NULL));
  SHOW(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &ms, NULL));
  SHOW(clock_nanosleep(12345, 0, &ms, NULL));
  SHOW_NUMBER(usleep(0));
  SHOW_NUMBER(usleep(1000));
  SHOW_NUMBER(sleep(0));
  handle_with(SA_RESTART); // does not restart these calls
  interrupt(nanosleep_long, SYS_clock_nanosleep);
  interrupt(clock_nanosleep_long, SYS_clock_nanosleep);
  interrupt(usleep_long, SYS_clock_nanosleep);
  interrupt(sleep_long, SYS_clock_nanosleep);
  handle_with(0);
  interrupt(clock_nanosleep_until, SYS_clock_nanosleep);
}

int main(void) {
  use_sleeps();
  say("end");
  return 0;
}
