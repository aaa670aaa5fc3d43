// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contention for the profiler's own locks, which the mutex profile shows with
// the option own.

#ifndef MPROF_RT_LOCK_WAIT_OWN_LOCKS_H
#define MPROF_RT_LOCK_WAIT_OWN_LOCKS_H

#include "sys/base.h"

// Function for mprof_lock_observer: called when the thread has released a lock
// of the profiler. Not called if no other thread has waited for the lock and
// the thread keeps no stack. cycles: ticks that other threads have waited; 0:
// none has waited. frame: frame address of the release.
void mprof_own_lock_released(uint64_t cycles, uintptr_t frame);

#endif // MPROF_RT_LOCK_WAIT_OWN_LOCKS_H
