// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: for a trace, each release of an object adds a mark, and the thread
// that the release wakes takes this mark. Threads take the marks of several
// releases in order, and no mark that is older than their wait. If a thread
// that did not wait gets the object, the oldest mark is dropped. A broadcast's
// mark is for all waiters. For a lock, only the last mark counts. If there are
// too many marks, the oldest is dropped and used only if no other mark fits.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "lock_wait/waiters.h"
#include "trace/trace_events.h"

static struct mprof_wake_marks marks;
static struct mprof_trace_buf *const buf = (struct mprof_trace_buf *)64;

// Adds the mark of a release at a time, in ticks of the trace. The time also is
// its offset.
static void add(uint32_t time, enum mprof_wakes wakes) {
  const struct mprof_trace_mark m = {.buf = buf, .offset = time, .ticks = time};
  mprof_wake_marks_add(&marks, m, wakes);
}

// Returns the time of the release that woke a thread which has waited since the
// given time, or 0.
static uint64_t take(uint64_t since) {
  const struct mprof_trace_mark m =
      mprof_wake_marks_take(&marks, since * MPROF_TRACE_TICK_DIV);
  CHECK_EQ(m.ticks, m.offset);
  return m.buf ? m.ticks : 0;
}

static void in_a_row(void) {
  add(10, MPROF_WAKES_ONE);
  add(20, MPROF_WAKES_ONE);
  add(30, MPROF_WAKES_ONE);
  CHECK_EQ(take(1), 10);
  CHECK_EQ(take(1), 20);
  add(40, MPROF_WAKES_ONE);
  CHECK_EQ(take(2), 30);
  CHECK_EQ(take(2), 40);
  CHECK_EQ(take(2), 0);
}

static void none_before_the_wait(void) {
  add(10, MPROF_WAKES_ONE);
  add(20, MPROF_WAKES_ONE);
  add(30, MPROF_WAKES_ONE);
  CHECK_EQ(take(11), 20);
  CHECK_EQ(take(31), 0); // came between the last mark and its release
  CHECK_EQ(take(1), 10);
  CHECK_EQ(take(1), 0);
}

static void taken_by_others(void) {
  mprof_wake_marks_skip(&marks);
  add(10, MPROF_WAKES_ONE);
  add(20, MPROF_WAKES_ONE);
  mprof_wake_marks_skip(&marks);
  CHECK_EQ(take(1), 20);
}

static void broadcast(void) {
  add(10, MPROF_WAKES_ONE);
  add(20, MPROF_WAKES_ALL);
  add(30, MPROF_WAKES_ONE);
  CHECK_EQ(take(1), 10);
  CHECK_EQ(take(1), 20);
  CHECK_EQ(take(25), 30); // came after the broadcast
  CHECK_EQ(take(1), 20);
  CHECK_EQ(take(25), 0);
}

static void last_of_a_lock(void) {
  add(10, MPROF_WAKES_NEXT_OWNER);
  CHECK_EQ(take(1), 10);
  add(20, MPROF_WAKES_NEXT_OWNER);
  add(30, MPROF_WAKES_NEXT_OWNER);
  CHECK_EQ(take(1), 30);
  CHECK_EQ(take(1), 30);
  CHECK_EQ(take(31), 0);
}

static void more_than_there_is_room_for(void) {
  for (uint32_t i = 1; i <= MPROF_WAKE_MARKS + 2; i++)
    add(10 * i, MPROF_WAKES_ONE);
  for (uint32_t i = 3; i <= MPROF_WAKE_MARKS + 2; i++)
    CHECK_EQ(take(1), 10 * i);
  CHECK_EQ(take(1), 20);
  CHECK_EQ(take(21), 0); // came after it
  add(10 * (MPROF_WAKE_MARKS + 3), MPROF_WAKES_NEXT_OWNER);
  CHECK_EQ(take(1), 10 * (MPROF_WAKE_MARKS + 3));
}

int main(void) {
  void (*const tests[])(void) = {in_a_row,        none_before_the_wait,
                                 taken_by_others, broadcast,
                                 last_of_a_lock,  more_than_there_is_room_for};
  for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
    tests[i]();
    mprof_wake_marks_clear(&marks);
    CHECK_EQ(take(1), 0);
  }
  return 0;
}
