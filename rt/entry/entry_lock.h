// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of entry_lock.c for the entries of other files. The functions end
// cancelled waits, and decide whether the mutex profile attributes the waiting
// time of other threads to an unlock.

#ifndef MPROF_RT_ENTRY_ENTRY_LOCK_H
#define MPROF_RT_ENTRY_ENTRY_LOCK_H

#include <stdbool.h>

// Cleanup routine for a call that did not return, for example because the
// thread was cancelled. Ends the wait. `wait` points to a struct mprof_wait.
void mprof_wait_cancelled(void *wait);

// Returns whether an unlock of a mutex is charged with the waiting time of
// other threads, that is, whether the mutex profile shows this time at the
// unlock. The unlock is charged if it releases the mutex and wakes a waiter. If
// the owner has locked the mutex recursively, only the last unlock releases the
// mutex. The unlock wakes no waiter if an earlier unlock has woken a thread
// that has not yet taken the mutex, and no other thread has begun to wait
// since. (Go: an unlock that wakes calls semrelease.)
// mutex: a pthread_mutex_t, or an mtx_t or C++ mutex, which begin with a
//   pthread_mutex_t.
bool mprof_mutex_is_charged(const void *mutex);

// Cleanup routine for a call that did not return, for example because the
// thread was cancelled. Ends the wait for a condition. cond_wait points to a
// struct mprof_cond_wait.
void mprof_cond_cancelled(void *cond_wait);

#endif // MPROF_RT_ENTRY_ENTRY_LOCK_H
