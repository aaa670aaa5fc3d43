// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot of the heap at the end of main (option main_profile): when main
// has returned, or when its thread has called exit or pthread_exit. The
// functions of atexit and the destructors of static objects run afterwards, so
// the difference to the heap profile at exit is what they have freed.

#ifndef MPROF_RT_SNAPSHOT_MAIN_END_H
#define MPROF_RT_SNAPSHOT_MAIN_END_H

#include "snapshot/snapshot.h"

// Prepares the snapshot if the option asks for it. Call in the main thread,
// before main.
void mprof_main_end_init(void);
// Returns whether main has ended and the snapshot was taken.
bool mprof_main_has_ended(void);
// Stores a copy of the snapshot in *s, without the counters of heapx. Returns 0
// or -ENOMEM. Call only if mprof_main_has_ended. Free *s with
// mprof_mem_snapshot_free.
int mprof_main_end_copy(struct mprof_mem_snapshot *s);
// Forgets the parent's snapshot in a forked child.
void mprof_main_end_reset(void);

#endif // MPROF_RT_SNAPSHOT_MAIN_END_H
