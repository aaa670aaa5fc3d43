// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests that call the writers of profiles themselves: sets the guard and
// takes writer_lock, as the writers require.

#ifndef MPROF_TEST_UNIT_WRITER_H
#define MPROF_TEST_UNIT_WRITER_H

#include "file/outfile.h"
#include "sys/lock.h"
#include "sys/tls.h"

#include "check.h"

static inline void writer_enter(void) {
  CHECK(mprof_guard_enter());
  mprof_lock_acquire(&mprof_writer_lock);
}

static inline void writer_leave(void) {
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
}

#endif // MPROF_TEST_UNIT_WRITER_H
