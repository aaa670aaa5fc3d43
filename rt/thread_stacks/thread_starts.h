// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records of threads that have been created and have not begun to run. The
// creating thread fills a record; the new thread gets it as its argument, and
// enters the registry with it. The records are not in persistent memory, which
// a forked child empties: a thread that forks may still need a record.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_STARTS_H
#define MPROF_RT_THREAD_STACKS_THREAD_STARTS_H

#include "bucket/bucket.h"

struct mprof_thread_start {
  const void *virtuals; // must be first: the table of a std::thread's state
  union {
    struct mprof_thread_start *next; // while the record is unused
    void *(*fn)(void *);
    int (*c11_fn)(void *);
  };
  void *arg;                   // of fn, or the state that this record replaces
  struct mprof_bucket *bucket; // creation stack; NULL: threads are not counted
  uint16_t labels;             // set of labels of the creating thread
  uint64_t trace_g;     // thread's number in trace_session; 0: not in the trace
  uint32_t trace_start; // stack of the start function, in the trace
  unsigned trace_session;
  uint32_t epoch; // epoch of the process that the bucket belongs to
  bool has_run;
};

// Returns a record of zeros; NULL if there is no memory. Takes starts_lock.
// Call with the guard set.
struct mprof_thread_start *mprof_thread_start_new(void);
// Frees a record. Takes starts_lock. Call with the guard set.
void mprof_thread_start_free(struct mprof_thread_start *s);
// Calls fn for each record that has an argument. Takes no lock: call it only in
// a copy of the process.
void mprof_thread_starts_each(void (*fn)(const struct mprof_thread_start *s,
                                         void *arg),
                              void *arg);
// Resets starts_lock in a forked child. The records stay.
void mprof_thread_starts_reset(void);

// Enters the calling thread, which s was made for, in the registry, with its
// creation stack and labels. Call it before any code of the program runs in the
// thread. is_done: nothing needs s afterwards, so it is freed.
void mprof_thread_begin(struct mprof_thread_start *s, bool is_done);

#endif // MPROF_RT_THREAD_STACKS_THREAD_STARTS_H
