// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contention for the runtime's own locks, in the mutex profile.

#ifndef MPROF_RT_WAIT_LOCK_PROFILE_H
#define MPROF_RT_WAIT_LOCK_PROFILE_H

#include "sys/base.h"

// At start: begins to observe the locks. A thread that has made others wait
// keeps the ticks, and puts them into the mutex profile when it has released
// its last lock.
void mprof_lock_profile_init(void);
// Shows what was waited in the counters.
void mprof_lock_profile_publish(void);

#endif // MPROF_RT_WAIT_LOCK_PROFILE_H
