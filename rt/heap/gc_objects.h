// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counted objects of a garbage collector that are not known to be dead.
// They are checked after each collection. The table stores their addresses in a
// hidden form. Otherwise a collector that scans the table would keep all
// objects alive. (Go: the profile specials of a span)

#ifndef MPROF_RT_HEAP_GC_OBJECTS_H
#define MPROF_RT_HEAP_GC_OBJECTS_H

#include "sys/base.h"
#include "sys/lock.h"

// gc_lock guards the table. The collecting thread holds it while the world is
// stopped, so no stopped thread can hold it. Nobody may call the collector with
// the lock held.
extern struct mprof_lock mprof_gc_lock;

// Call the following functions, up to mprof_gc_sweep, with gc_lock held.

// Enters an object. If the address already has an object, whose death was not
// seen, stores that object's bucket in *stale, otherwise 0. Returns false if
// there is no memory.
bool mprof_gc_put(uintptr_t addr, uint32_t bucket, uint32_t *stale);
// Removes an object and returns its bucket, 0 if the object is not counted.
uint32_t mprof_gc_take(uintptr_t addr);
// Marks the objects for which is_live returns false.
void mprof_gc_mark_dead(bool (*is_live)(void *object));
// Asks is_live again for each marked object. If the object is still dead,
// removes it and calls gone with the object and its bucket.
void mprof_gc_sweep(bool (*is_live)(void *object),
                    void (*gone)(void *object, uint32_t bucket));
// Returns the number of objects. May be read without the lock.
size_t mprof_gc_count(void);
// Empties the table, in a forked child.
void mprof_gc_objects_reset(void);

#endif // MPROF_RT_HEAP_GC_OBJECTS_H
