// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records of threads that were created and have not begun to run. The
// creating thread fills a record and passes it to the new thread as its
// argument. The new thread copies data of this record into the registry. These
// records are not in persistent memory (persistent.h), because persistent
// memory is emptied in a forked child. But the thread that has called fork may
// still need its own record in the child.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_STARTS_H
#define MPROF_RT_THREAD_STACKS_THREAD_STARTS_H

#include "bucket/bucket.h"
#include "sys/base.h"
#include "thread/threads.h"

struct mprof_thread_start {
  // Virtual table of a std::thread's state. This field must be first.
  const void *virtuals;
  union {
    struct mprof_thread_start *next; // next unused record
    void *(*fn)(void *);
    int (*c11_fn)(void *);
  };
  // Argument of fn. For a std::thread: the original state, which this record
  // replaces.
  void *arg;
  // The function that the program wants to run. runs.start is fn, except for a
  // std::thread of libstdc++.
  struct mprof_thread_runs runs;
  // Bucket of the creation stack. NULL: the creation was not counted.
  struct mprof_bucket *bucket;
  uint16_t labels;  // label set of the creating thread
  uint64_t trace_g; // number of the thread in the trace; 0: not in the trace
  uint32_t trace_start; // number of the start function's stack in the trace
  // Session of the trace to which trace_g and trace_start belong.
  unsigned trace_session;
  uint32_t epoch; // value of mprof_process_epoch when `bucket` was set
  bool has_run;   // for a std::thread: the new thread has begun to run
};

// Returns a new record whose fields are all 0. Returns NULL if there is no
// memory. Acquires starts_lock. Call with the recursion guard set.
struct mprof_thread_start *mprof_thread_start_new(void);
// Frees the record s. Acquires starts_lock. Call with the recursion guard set.
void mprof_thread_start_free(struct mprof_thread_start *s);
// Calls fn(s, arg) for each record s with s->arg not NULL. Acquires no lock.
// Call this function only in a forked copy of the process in which no other
// thread runs.
void mprof_thread_starts_each(void (*fn)(const struct mprof_thread_start *s,
                                         void *arg),
                              void *arg);
// Resets starts_lock in a forked child. The records remain valid.
void mprof_thread_starts_reset(void);

// Adds the calling thread to the registry. Sets its creation stack and labels
// from the record s. Call this function before any code of the program runs in
// the thread.
// is_done: true: nobody needs s any more, so this function frees s.
void mprof_thread_begin(struct mprof_thread_start *s, bool is_done);

// --- the function that a std::thread runs ---
//
// A thread of libstdc++ has a state with a virtual function, and the function
// that the program passed to the thread is a part of this state. A thread of
// libc++ has a start function that is a template, and the passed function is a
// part of its argument.

// The first entries of the virtual table of std::thread::_State (Itanium C++
// ABI).
struct mprof_virtuals {
  void (*destroy)(void *self);
  void (*delete)(void *self);
  void (*run)(void *self);
};
static inline const struct mprof_virtuals *
mprof_virtuals_of(const void *state) {
  return *(const struct mprof_virtuals *const *)state;
}

// Returns the address of the function that a thread with this state will run.
// state: a std::thread::_State whose thread has not begun. If the program
// passed a pointer to a function or to a member function, and the position of
// the pointer is known, returns the value of the pointer. In all other cases,
// for example for a lambda, returns the state's virtual function. The name of
// this virtual function contains the type of the callable object. Takes no lock
// and allocates nothing.
uintptr_t mprof_std_thread_function(const void *state);

// Returns the field `passed` of struct mprof_thread_runs (threads.h) for a
// thread with this argument. The argument may be any value, because the caller
// does not know whether libc++ or the program has passed it. Returns 0 if the
// program does not contain libc++. Takes no lock and allocates nothing.
uintptr_t mprof_libcxx_thread_function(const void *arg);

#endif // MPROF_RT_THREAD_STACKS_THREAD_STARTS_H
