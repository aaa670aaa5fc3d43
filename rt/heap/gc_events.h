// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handles the collection events of Boehm's garbage collector, libgc. The
// runtime's handler of these events finds the dead objects after each
// collection, and begins the next cycle of the heap profile (cycle.h). This
// file declares libgc's types itself instead of including <gc/gc.h>, because
// the runtime is built without libgc.

#ifndef MPROF_RT_HEAP_GC_EVENTS_H
#define MPROF_RT_HEAP_GC_EVENTS_H

#include "sys/base.h"

// The values of libgc's GC_EventType. These values are part of libgc's ABI
// since version 7.6. A test compares the values with libgc's header.
enum mprof_gc_event {
  MPROF_GC_MARK_START = 1,
  MPROF_GC_MARK_END = 2,
  MPROF_GC_RECLAIM_START = 3,
  MPROF_GC_RECLAIM_END = 4,
  MPROF_GC_PRE_STOP_WORLD = 6,
  MPROF_GC_POST_START_WORLD = 9,
};

// A handler of collection events. (libgc: GC_on_collection_event_proc)
typedef void (*mprof_gc_handler)(int event);

// Installs the runtime's handler of collection events, unless it is already
// installed. Call this with no lock held, before mprof_gc_put inserts an
// object. `caller` is an address in the program's code that called the runtime.
void mprof_gc_listen(void *caller);
// Set and get the program's own handler. The runtime's handler calls the
// program's handler after its own work. `caller` is an address in the program's
// code that called the runtime.
void mprof_gc_set_handler(mprof_gc_handler handler, void *caller);
mprof_gc_handler mprof_gc_get_handler(void *caller);
// Returns whether the calling thread is in a collection and therefore holds
// gc_lock.
bool mprof_gc_is_collecting(void);
// Resets the state of gc_events.c in a forked child.
void mprof_gc_reset(void);

#endif // MPROF_RT_HEAP_GC_EVENTS_H
