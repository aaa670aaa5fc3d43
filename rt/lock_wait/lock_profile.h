// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records contention for the runtime's own locks in the mutex profile. See
// lock_profile.c for why a thread must keep such ticks for a while.

#ifndef MPROF_RT_LOCK_WAIT_LOCK_PROFILE_H
#define MPROF_RT_LOCK_WAIT_LOCK_PROFILE_H

#include "sys/base.h"

// Begins to observe the locks, at start. A thread that has made others wait
// keeps their ticks, and adds them to the mutex profile after it has released
// its last lock.
void mprof_lock_profile_init(void);
// Publishes the total wait time to the stats.
void mprof_lock_profile_publish(void);

#endif // MPROF_RT_LOCK_WAIT_LOCK_PROFILE_H
