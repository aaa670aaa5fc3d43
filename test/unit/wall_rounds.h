// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes rounds of the wall profile, and counts the stacks of waits that they
// unwind. A test is linked with -Wl,--wrap=mprof_unwind_wait.

#ifndef MPROF_TEST_UNIT_WALL_ROUNDS_H
#define MPROF_TEST_UNIT_WALL_ROUNDS_H

#include "lock_wait/contention.h"
#include "thread_stacks/thread_stacks.h"
#include "unwind/unwind.h"

#include "core.h"

#include <stdatomic.h>

static atomic_uint unwound; // number of stacks

__typeof__(mprof_unwind_wait) __real_mprof_unwind_wait,
    __wrap_mprof_unwind_wait;
size_t __wrap_mprof_unwind_wait(struct mprof_stack_range *range,
                                const struct mprof_wait *w, int tid,
                                mprof_pc *pcs, size_t depth,
                                enum mprof_stack_end *end) {
  unwound++;
  return __real_mprof_unwind_wait(range, w, tid, pcs, depth, end);
}

// Notes waits from now on, as with the option wall_rate, but without a thread
// that takes rounds.
static inline void wall_note_waits(void) {
  mprof_contention.sees_waits = true;
  mprof_contention.notes_waits = true;
  mprof_contention.notes_from_start = true;
}

static inline void wall_round(void) {
  mprof_guard_enter();
  CHECK_EQ(mprof_wall_round(), 0);
  mprof_guard_leave();
}

#endif // MPROF_TEST_UNIT_WALL_ROUNDS_H
