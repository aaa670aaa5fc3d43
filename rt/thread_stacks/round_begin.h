// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Begins a round, that is, one collection of the stacks of all threads
// (thread_stacks.h): lists all threads, makes a slot for the stack of each
// thread (thread_slots.h), and fills the slot of the calling thread. If a
// thread has a slot, its creator (the thread that created it) also has a slot,
// if the creator still lives. This holds even while many threads are created.

#ifndef MPROF_RT_THREAD_STACKS_ROUND_BEGIN_H
#define MPROF_RT_THREAD_STACKS_ROUND_BEGIN_H

#include "sys/base.h"

struct mprof_reader;
struct mprof_thread_stacks;

// Makes the slots of all threads, and then makes the round active, so that
// threads that begin or end a wait fill their own slots. Returns 0, -ENOMEM, or
// -ERANGE if there are more threads than `limit`. If it returns 0 and the round
// stops all threads, registry_lock is held after the call. After -ERANGE,
// r->s->threads is the number of threads. Call with stacks_lock held and with
// all signals blocked.
// frame: as for mprof_thread_stacks_take.
int mprof_round_begin(struct mprof_reader *r, uintptr_t frame, size_t limit);
// Adds slots for all threads that have no slot, because they were created after
// mprof_round_begin has listed the threads. Returns whether it has added a
// slot. Call with registry_lock held.
// left_out: receives the number of threads that still have no slot.
bool mprof_round_add_new_locked(struct mprof_reader *r, size_t *left_out);
// Does the same for a caller without registry_lock, which is taken only after
// the kernel's list was read.
void mprof_round_add_new(struct mprof_reader *r, size_t *left_out);
// Adds `threads`, the number of threads that are missing in the profile, to the
// statistics.
void mprof_round_leave_out(size_t threads);
void mprof_round_free_slots(struct mprof_thread_stacks *s);

#endif // MPROF_RT_THREAD_STACKS_ROUND_BEGIN_H
