// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records of threads that were created and have not begun to run. The
// creating thread fills a record and passes it to the new thread as its
// argument. The new thread uses the record to enter the registry. The records
// are not in persistent memory, because persistent memory is emptied in a
// forked child. The thread that has forked may still need its record in the
// child.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_STARTS_H
#define MPROF_RT_THREAD_STACKS_THREAD_STARTS_H

#include "bucket/bucket.h"

struct mprof_thread_start {
  const void *virtuals; // must be first: virtual table of a std::thread's state
  union {
    struct mprof_thread_start *next; // while the record is unused
    void *(*fn)(void *);
    int (*c11_fn)(void *);
  };
  void *arg; // argument of fn, or the std::thread's state that this replaces
  struct mprof_bucket *bucket; // creation stack; NULL: threads are not counted
  uint16_t labels;             // set of labels of the creating thread
  uint64_t trace_g;       // thread's number in the trace; 0: not in the trace
  uint32_t trace_start;   // the trace's number of the start function's stack
  unsigned trace_session; // session of the trace to which the two belong
  uint32_t epoch;         // epoch of the process that the bucket belongs to
  bool has_run;
};

// Returns a new record, with zeros in all fields. Returns NULL if there is no
// memory. Takes starts_lock. Call with the guard set.
struct mprof_thread_start *mprof_thread_start_new(void);
// Frees a record. Takes starts_lock. Call with the guard set.
void mprof_thread_start_free(struct mprof_thread_start *s);
// Calls fn(s, arg) for each record s with s->arg not NULL. Takes no lock. Call
// it only in a copy of the process, where no other thread runs.
void mprof_thread_starts_each(void (*fn)(const struct mprof_thread_start *s,
                                         void *arg),
                              void *arg);
// Resets starts_lock in a forked child, and keeps the records.
void mprof_thread_starts_reset(void);

// Adds the calling thread to the registry, with the creation stack and labels
// that its record s has. Call this before any code of the program runs in the
// thread. is_done: true: s is no longer needed, so this function frees it.
void mprof_thread_begin(struct mprof_thread_start *s, bool is_done);

#endif // MPROF_RT_THREAD_STACKS_THREAD_STARTS_H
