// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of the runtime in this process: whether it has started, and to
// which process its data belong.
//
//   not started -> starting -> ready
//                         \-> inert (second copy of the runtime, or a forked
//                                    child that is not profiled)

#ifndef MPROF_RT_PROCESS_PROCESS_H
#define MPROF_RT_PROCESS_PROCESS_H

#include "sys/base.h"

// Starts the runtime if nobody has, and returns whether events are recorded.
// Returns false while the start is under way in another frame or thread. Also
// returns false in a second copy of the runtime in the process, which leaves
// all work to the first copy.
bool mprof_init_start(void);
// Returns whether this copy of the runtime will never record events.
bool mprof_init_is_inert(void);
// The number of this process. A forked child has another number. Data that a
// frame of the parent has remembered are invalid in the child.
extern atomic_uint mprof_epoch;
static inline uint32_t mprof_process_epoch(void) {
  return atomic_load_explicit(&mprof_epoch, memory_order_relaxed);
}
// Returns whether this process is the one that the runtime's data describe.
// False in a child that was made without fork handlers, by vfork, _Fork or
// clone.
bool mprof_process_is_own(void);
extern atomic_bool mprof_is_ready; // becomes false only in a forked child
static inline bool mprof_init_ready(void) {
  return mprof_likely(
             atomic_load_explicit(&mprof_is_ready, memory_order_acquire)) ||
         mprof_init_start();
}

// Returns whether the process has a sanitizer's runtime.
bool mprof_has_sanitizer(void);

// Makes this process the owner of the profile. Called at start.
void mprof_process_own(void);
// Makes a forked child the owner of its profile, with another epoch.
void mprof_process_begin_child(void);
// Says that all parts have started: events are recorded from now on.
void mprof_process_set_ready(void);
// Makes this copy of the runtime, or this child, inert for good.
void mprof_process_set_inert(void);
// Returns whether the parts have started and the process is not inert.
bool mprof_process_has_started(void);

// Starts the runtime's parts. init.c defines it. It is no registered pointer:
// the first event of a process may come before any constructor that could
// register one.
void mprof_process_start_parts(void);

#endif // MPROF_RT_PROCESS_PROCESS_H
