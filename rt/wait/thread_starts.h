// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread is created with until it runs.

#ifndef MPROF_RT_WAIT_THREAD_STARTS_H
#define MPROF_RT_WAIT_THREAD_STARTS_H

#include "bucket/bucket.h"

struct mprof_thread_start {
  const void *virtuals; // first: of a std::thread's state
  union {
    struct mprof_thread_start *next; // while it is free
    void *(*fn)(void *);
    int (*c11_fn)(void *);
  };
  void *arg;                   // fn's, or the state that this one stands for
  struct mprof_bucket *bucket; // NULL: threads are not counted
  uint16_t labels;             // of the creator
  uint64_t trace_g;            // its number in that session of the trace, or 0
  uint32_t trace_start;        // the trace's stack of what it runs
  unsigned trace_session;
  uint32_t epoch; // of the process, which the bucket belongs to
  bool has_run;
};

// One that holds zeros; NULL when there is no memory. Not persistent memory,
// which a forked child empties: the thread that forks may still hold one. Call
// both with the guard set.
struct mprof_thread_start *mprof_thread_start_new(void);
void mprof_thread_start_free(struct mprof_thread_start *s);
// Calls fn for each that has an argument, in a copy of the process.
void mprof_thread_starts_each(void (*fn)(const struct mprof_thread_start *s,
                                         void *arg),
                              void *arg);
// In a forked child.
void mprof_thread_starts_reset(void);

// In the new thread, before anything of the program's: enters it in the
// registry with where it was created, and frees s if it is done with.
void mprof_thread_begin(struct mprof_thread_start *s, bool is_done);

#endif // MPROF_RT_WAIT_THREAD_STARTS_H
