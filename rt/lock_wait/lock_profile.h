// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records contention for the profiler's own locks in the mutex profile.
// lock_profile.c explains why the releasing thread cannot record the contention
// at once.

#ifndef MPROF_RT_LOCK_WAIT_LOCK_PROFILE_H
#define MPROF_RT_LOCK_WAIT_LOCK_PROFILE_H

#include "sys/base.h"

// Begins to observe the profiler's locks, if the option own is set. Call at
// start, after the options are read. From then on, a thread
// that has made other threads wait for such a lock keeps the number of ticks
// that the other threads waited. After the thread has released its last lock of
// the profiler, it adds the ticks to the mutex profile.
void mprof_lock_profile_init(void);
// Stores the total time of waits for the profiler's own locks in the
// statistics.
void mprof_lock_profile_publish(void);

#endif // MPROF_RT_LOCK_WAIT_LOCK_PROFILE_H
