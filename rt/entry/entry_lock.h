// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that entry_lock.c defines for the entries of locks and of other
// waits: cleanup of cancelled waits, and the test whether an unlock is charged.

#ifndef MPROF_RT_ENTRY_ENTRY_LOCK_H
#define MPROF_RT_ENTRY_ENTRY_LOCK_H

#include <stdbool.h>

// Cleanup routine: ends the struct mprof_wait of a call that did not return.
void mprof_wait_cancelled(void *wait);

// Returns whether an unlock of a mutex is charged for the waiting time of other
// threads. The unlock is charged if a thread waits, and the unlock both
// releases the mutex and wakes a waiter. If the owner has locked the mutex
// recursively, only the last unlock is charged. There is one exception: an
// earlier unlock was charged, and the thread that it woke has not yet taken the
// mutex. Then this unlock is not charged. (Go: an unlock that wakes calls
// semrelease.) mutex is a pthread_mutex_t, or an mtx_t or C++ mutex, which
// begin with a pthread_mutex_t.
bool mprof_mutex_is_charged(const void *mutex);

// Cleanup routine: ends the struct mprof_cond_wait of a call that did not
// return.
void mprof_cond_cancelled(void *cond_wait);

#endif // MPROF_RT_ENTRY_ENTRY_LOCK_H
