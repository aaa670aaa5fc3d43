// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the stacks of threads that wait. Used by the thread that collects the
// stacks of all threads, the reader. The reader does not disturb the waiting
// threads: it reads their memory.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_READ_H
#define MPROF_RT_THREAD_STACKS_THREAD_READ_H

#include "sys/base.h"

struct mprof_reader;
struct mprof_thread_slot;
struct mprof_thread_stacks;

enum mprof_reading {
  MPROF_READ_DONE,        // the slot is filled, or is being filled
  MPROF_READ_NOT_WAITING, // the thread is in no noted wait
  MPROF_READ_GONE,        // the thread has ended
};
// Fills the slot of a thread that is in a noted wait. Call in the active round.
// slot->thread must not be NULL.
enum mprof_reading mprof_read_waiting(struct mprof_reader *r,
                                      struct mprof_thread_slot *slot);
// Prefetches memory of the threads whose slots follow slot number i, to read
// their stacks faster. Call before the thread of slot number i is read.
void mprof_read_prefetch(const struct mprof_thread_stacks *s, size_t i);

#endif // MPROF_RT_THREAD_STACKS_THREAD_READ_H
