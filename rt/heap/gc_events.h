// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Boehm's collector, libgc, tells of its collections, and what the runtime
// makes of it. Declared here and not by <gc/gc.h>: the runtime is built without
// libgc, and refers to it weakly.

#ifndef MPROF_RT_HEAP_GC_EVENTS_H
#define MPROF_RT_HEAP_GC_EVENTS_H

#include "sys/base.h"

// (libgc: GC_EventType) Part of its ABI since 7.6; a test compares them.
enum mprof_gc_event {
  MPROF_GC_MARK_START = 1,
  MPROF_GC_MARK_END = 2,
  MPROF_GC_RECLAIM_START = 3,
  MPROF_GC_RECLAIM_END = 4,
  MPROF_GC_PRE_STOP_WORLD = 6,
  MPROF_GC_POST_START_WORLD = 9,
};

// (libgc: GC_on_collection_event_proc)
typedef void (*mprof_gc_handler)(int event);

// Sees to it that collections are heard of. To be called before an object is
// entered, without a lock. caller: where in the program.
void mprof_gc_listen(void *caller);
// Sets the handler that the program wants to have.
void mprof_gc_set_handler(mprof_gc_handler handler, void *caller);
mprof_gc_handler mprof_gc_get_handler(void *caller);
// Whether this thread is collecting: then it has the lock of the objects.
bool mprof_gc_is_collecting(void);
// In a forked child. Weak in init.c, since a program need not have this part.
void mprof_gc_reset(void);

#endif // MPROF_RT_HEAP_GC_EVENTS_H
