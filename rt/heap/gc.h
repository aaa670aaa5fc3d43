// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of the counted objects of Boehm's garbage collector, libgc. After
// each collection, the runtime's handler of these events finds the dead objects
// and begins the next cycle of the heap profile (counts.h). gc.c declares
// libgc's types itself instead of including <gc/gc.h>, because the runtime is
// built without libgc. (Go: the profile specials of a span)

#ifndef MPROF_RT_HEAP_GC_H
#define MPROF_RT_HEAP_GC_H

#include "sys/base.h"
#include "sys/lock.h"

// gc_lock guards the table. The collecting thread holds gc_lock while the world
// is stopped (all other threads are stopped), so that no stopped thread holds
// gc_lock. A thread that holds gc_lock must not call the collector.
extern MPROF_HIDDEN struct mprof_lock mprof_gc_lock;

// Inserts an object with the handle of the cell that counts it (bucket.h). If
// the table already has an object at addr, the runtime did not see the death of
// the old object. In this case stores the old object's cell in *stale;
// otherwise stores 0. Returns false if there is no memory. Call with gc_lock
// held.
bool mprof_gc_put(uintptr_t addr, uint32_t cell, uint32_t *stale);
// Removes an object and returns its cell, or 0 if the table does not have the
// object. Call with gc_lock held.
uint32_t mprof_gc_take(uintptr_t addr);
// Returns the number of objects. gc_lock need not be held.
size_t mprof_gc_count(void);
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
// Forgets all objects and collections. Call this in a forked child.
void mprof_gc_reset(void);

#endif // MPROF_RT_HEAP_GC_H
