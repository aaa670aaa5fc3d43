// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the entries of locks share with those of other waits.

#ifndef MPROF_RT_ENTRY_ENTRY_LOCK_H
#define MPROF_RT_ENTRY_ENTRY_LOCK_H

#include <stdbool.h>

void mprof_wait_cancelled(void *wait);

// Whether an unlock is to be charged: somebody waits, and the unlock lets
// others in and wakes one. Of a mutex that its owner has locked more than once
// only the last unlock does; and none does while the thread that an unlock
// before it has woken, and charged for, is still on its way. (Go: semrelease is
// called by an unlock that wakes.) mutex is a pthread_mutex_t, which mtx_t and
// mutexes of C++ begin with.
bool mprof_mutex_is_charged(const void *mutex);

void mprof_cond_cancelled(void *cond_wait);

#endif // MPROF_RT_ENTRY_ENTRY_LOCK_H
