// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of the runtime in this process: whether it has started, and which
// process it belongs to.

#ifndef MPROF_RT_SYS_PROCESS_H
#define MPROF_RT_SYS_PROCESS_H

#include "sys/base.h"

// Whether events are taken. Starts the runtime if nobody has; false while that
// is under way in another frame or thread, and in a second copy of the runtime
// in the process, which leaves everything to the first.
bool mprof_init_start(void);
// Whether it will never be: this copy leaves everything to another.
bool mprof_init_is_inert(void);
// Which process this is: another number in a forked child. What a frame of the
// parent's remembers means nothing there.
extern atomic_uint mprof_epoch;
static inline uint32_t mprof_process_epoch(void) {
  return atomic_load_explicit(&mprof_epoch, memory_order_relaxed);
}
// Whether it is the process that the runtime has its books of, and not a child
// that was made without fork handlers: by vfork, _Fork or clone.
bool mprof_process_is_own(void);
extern atomic_bool mprof_is_ready; // may become false only in a forked child
static inline bool mprof_init_ready(void) {
  return mprof_likely(
             atomic_load_explicit(&mprof_is_ready, memory_order_acquire)) ||
         mprof_init_start();
}

// Whether a sanitizer's runtime is in the process.
bool mprof_has_sanitizer(void);

// Makes this process the one that owns the profile. At start.
void mprof_process_own(void);
// In a forked child: the child owns its profile, and is another epoch.
void mprof_process_begin_child(void);
// The parts have started: events are recorded from now on.
void mprof_process_set_ready(void);
// This copy of the runtime, or this child, records nothing for good.
void mprof_process_set_inert(void);
// Returns whether the parts have started and the process is not inert.
bool mprof_process_has_started(void);

// Starts the runtime's parts. Defined by init.c: the first event of a process
// may come before any constructor, so nobody can register it.
void mprof_process_start_parts(void);

#endif // MPROF_RT_SYS_PROCESS_H
