// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps a table of counted objects of a garbage collector. An object stays in
// the table until the object is freed or found to be dead. The objects are
// checked after each collection. The table stores the complement of each
// object's address. If it stored the address, a collector that scans the table
// would keep all objects alive. (Go: the profile specials of a span)

#ifndef MPROF_RT_HEAP_GC_OBJECTS_H
#define MPROF_RT_HEAP_GC_OBJECTS_H

#include "sys/base.h"
#include "sys/lock.h"

// gc_lock guards the table. The collecting thread holds gc_lock while the world
// is stopped (all other threads are stopped), so that no stopped thread holds
// gc_lock. A thread that holds gc_lock must not call the collector.
extern MPROF_HIDDEN struct mprof_lock mprof_gc_lock;

// Call the functions from here to mprof_gc_sweep with gc_lock held.

// Inserts an object with the handle of the cell that counts it (counts.h). If
// the table already has an object at addr, the runtime
// did not see the death of the old object. In this case stores the old object's
// cell in *stale; otherwise stores 0. Returns false if there is no memory.
bool mprof_gc_put(uintptr_t addr, uint32_t cell, uint32_t *stale);
// Removes an object and returns its cell, or 0 if the table does not have the
// object.
uint32_t mprof_gc_take(uintptr_t addr);
// Calls is_live for each object, and marks the object as alive or dead.
void mprof_gc_mark_dead(bool (*is_live)(void *object));
// Calls is_live again for each object that is marked as dead. If the object is
// live now, marks it as alive. Otherwise calls `gone` with the object and its
// cell, and removes the object.
void mprof_gc_sweep(bool (*is_live)(void *object),
                    void (*gone)(void *object, uint32_t cell));
// Returns the number of objects. gc_lock need not be held.
size_t mprof_gc_count(void);
// Empties the table. Call this in a forked child.
void mprof_gc_objects_reset(void);

#endif // MPROF_RT_HEAP_GC_OBJECTS_H
