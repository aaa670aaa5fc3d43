// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of the runtime in this process: whether the runtime has started,
// and which process its data describe.
//
//   not started -> starting -> ready
//                         \-> inert (second copy of the runtime, or a forked
//                                    child that is not profiled)

#ifndef MPROF_RT_PROCESS_PROCESS_H
#define MPROF_RT_PROCESS_PROCESS_H

#include "sys/base.h"

// Starts the runtime if it has not been started, and returns whether events are
// recorded. Returns false while another thread, or an outer frame of this
// thread, is starting the runtime. Also returns false in a second copy of the
// runtime, because only the first copy in a process records events.
bool mprof_init_start(void);
// Returns whether this copy of the runtime will never record events.
bool mprof_init_is_inert(void);
// A number that is different in each forked child. Code that keeps runtime data
// in a stack frame saves this number with the data. If the number has changed
// when the data are used, the process has forked in between and the data are
// invalid.
extern atomic_uint mprof_epoch;
static inline uint32_t mprof_process_epoch(void) {
  return atomic_load_explicit(&mprof_epoch, memory_order_relaxed);
}
// Returns whether the runtime's data describe this process. They describe the
// parent in a child that was created by vfork, _Fork or clone, because these
// run no fork handlers; then the result is false.
bool mprof_process_is_own(void);
extern atomic_bool mprof_is_ready; // becomes false only in a forked child
static inline bool mprof_init_ready(void) {
  return mprof_likely(
             atomic_load_explicit(&mprof_is_ready, memory_order_acquire)) ||
         mprof_init_start();
}

// Returns whether the runtime of a sanitizer, such as AddressSanitizer, is in
// the process.
bool mprof_has_sanitizer(void);

// Records that the runtime's data describe this process. Called at start.
void mprof_process_own(void);
// Records that the runtime's data describe this forked child, and changes the
// epoch.
void mprof_process_begin_child(void);
// Records that all parts of the runtime have started. Events are recorded from
// now on.
void mprof_process_set_ready(void);
// Stops recording for good, in this copy of the runtime or in this forked
// child.
void mprof_process_set_inert(void);
// Returns whether all parts of the runtime have started and recording was not
// stopped.
bool mprof_process_has_started(void);

// Starts the parts of the runtime. init.c defines this function. It is called
// directly and not by a function pointer, because the first event may occur
// before any constructor could set the pointer.
void mprof_process_start_parts(void);

#endif // MPROF_RT_PROCESS_PROCESS_H
