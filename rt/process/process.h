// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of the runtime in this process: whether the runtime has started,
// and which process its data describe.
//
// not started -> starting -> ready
//                       \-> inert
//
// An inert runtime never records events. The runtime becomes inert if it is the
// second copy of the runtime in the process. It also becomes inert in a process
// that MProf has started for itself, and in a forked child that is not
// profiled.

#ifndef MPROF_RT_PROCESS_PROCESS_H
#define MPROF_RT_PROCESS_PROCESS_H

#include "sys/base.h"

// Starts the runtime if it has not been started. Returns true if events are
// recorded. Returns false while another thread, or an outer frame of this
// thread, is still starting the runtime. Also returns false in a second copy of
// the runtime, because only the first copy in a process records events.
bool mprof_process_start(void);
// Returns whether the runtime is inert, that is, never records events.
bool mprof_process_is_inert(void);
// The epoch, a number that changes in each forked child. Code that keeps
// runtime data in a stack frame also saves the epoch in this frame. If the
// epoch has changed when the data are used, the process has forked in between.
// The data are then invalid, because the child has reset the runtime's data.
extern MPROF_HIDDEN atomic_uint mprof_epoch;
static inline uint32_t mprof_process_epoch(void) {
  return atomic_load_explicit(&mprof_epoch, memory_order_relaxed);
}
// Returns whether the runtime's data describe this process. Returns false in a
// child that was created by vfork, _Fork or clone. These functions run no fork
// handlers, so the data still describe the parent.
bool mprof_process_is_own(void);
// True while events are recorded. Becomes false again only in a forked child.
extern MPROF_HIDDEN atomic_bool mprof_is_ready;
static inline bool mprof_process_ready(void) {
  return mprof_likely(
             atomic_load_explicit(&mprof_is_ready, memory_order_acquire)) ||
         mprof_process_start();
}

// Returns whether the runtime of a sanitizer, such as AddressSanitizer, is part
// of the process.
bool mprof_has_sanitizer(void);

// Records that the runtime's data describe this process. Called when the
// runtime starts.
void mprof_process_own(void);
// Records that the runtime's data now describe this forked child, and changes
// the epoch.
void mprof_process_begin_child(void);
// Records that all parts of the runtime have started, so that events are
// recorded from now on.
void mprof_process_set_ready(void);
// Makes the runtime inert: no event is recorded from now on in this copy of the
// runtime. Called for a second copy of the runtime, and in a forked child that
// is not profiled.
void mprof_process_set_inert(void);
// Returns whether all parts of the runtime have started and the runtime has not
// become inert since.
bool mprof_process_has_started(void);

// Starts all parts of the runtime. Defined in init.c. mprof_process_start calls
// this function by its name and not through a pointer, because the first event
// may occur before any constructor could set a pointer.
void mprof_process_start_parts(void);

// Starts the runtime if libc itself has started, and returns whether it has
// started. For the interceptors of the preloaded library: the loader calls them
// first, then libc's constructor, then those of other libraries, and only then
// that of the preloaded library. In an inert runtime, costs little. NULL in
// other programs.
extern bool mprof_init_start_early(void)
    __attribute__((weak, visibility("hidden")));

// --- a library that the program loads itself ---
//
// Only libmprof_preload.so defines these functions (preload/late.c).

// Returns whether dlopen has loaded the library, so that the runtime starts
// only when mprof_start is called. Takes the loader's lock.
bool mprof_init_is_late(void) __attribute__((weak, visibility("hidden")));
// Redirects the calls of all modules to MProf, or back. Takes the loader's
// lock. Keeps errno.
void mprof_late_set(bool turns_on) __attribute__((weak, visibility("hidden")));

#endif // MPROF_RT_PROCESS_PROCESS_H
