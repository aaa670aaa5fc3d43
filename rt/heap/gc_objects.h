// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counted objects of a garbage collector that are not known to be dead, to
// be gone through after each collection. Their addresses are hidden from the
// collector, which would else keep the objects alive where it scans this
// memory. (Go: the profile specials of a span)

#ifndef MPROF_RT_HEAP_GC_OBJECTS_H
#define MPROF_RT_HEAP_GC_OBJECTS_H

#include "sys/base.h"
#include "sys/lock.h"

// Guards everything here. The collecting thread holds it while the world is
// stopped, so that no stopped thread does; nobody calls the collector with it.
extern struct mprof_lock mprof_gc_lock;

// All of these: call with gc_lock held.

// Enters an object. *stale gets the bucket that the address had, 0 if none: an
// object whose death was not seen. False when there is no memory.
bool mprof_gc_put(uintptr_t addr, uint32_t bucket, uint32_t *stale);
// Removes an object and returns its bucket, 0 if it was not counted.
uint32_t mprof_gc_take(uintptr_t addr);
// Remembers of each object whether is_live says no.
void mprof_gc_mark_dead(bool (*is_live)(void *object));
// Asks again for those that were dead. Removes each that still is, and calls
// gone with it and its bucket.
void mprof_gc_sweep(bool (*is_live)(void *object),
                    void (*gone)(void *object, uint32_t bucket));
// How many there are; may be read without the lock.
size_t mprof_gc_count(void);
// In a forked child, which counts anew.
void mprof_gc_objects_reset(void);

#endif // MPROF_RT_HEAP_GC_OBJECTS_H
