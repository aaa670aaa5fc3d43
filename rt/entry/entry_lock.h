// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that entry_lock.c defines for the entries of locks and of other
// waits: cleanup of cancelled waits, and the test whether an unlock is charged.

#ifndef MPROF_RT_ENTRY_ENTRY_LOCK_H
#define MPROF_RT_ENTRY_ENTRY_LOCK_H

#include <stdbool.h>

// Ends a struct mprof_wait whose call did not return. A cleanup routine.
void mprof_wait_cancelled(void *wait);

// Returns whether an unlock of a mutex is charged for the waiting time of
// others. That is the case if a thread waits, and the unlock both lets others
// in and wakes a waiter. Of a mutex that its owner has locked recursively, only
// the last unlock is charged. An unlock is also not charged while the thread
// that an earlier unlock has woken, and was charged for, is still on its way.
// (Go: an unlock that wakes calls semrelease.) mutex is a pthread_mutex_t.
// mtx_t and C++ mutexes begin with one.
bool mprof_mutex_is_charged(const void *mutex);

// Ends a struct mprof_cond_wait whose call did not return. A cleanup routine.
void mprof_cond_cancelled(void *cond_wait);

#endif // MPROF_RT_ENTRY_ENTRY_LOCK_H
