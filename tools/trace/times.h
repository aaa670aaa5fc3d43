// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds up, for each thread of a trace, the time in each state. A thread is in
// exactly one state from its begin to its end, so these times add up to its
// life. A consumer of a timeline passes the calls that change a state on to
// this file.
//
// A kind of time is a small number. The first kinds are those below. The
// others are the reasons of waits that the trace has, such as "sync".

#ifndef MPROF_TRACE_TIMES_H
#define MPROF_TRACE_TIMES_H

#include "common/idmap.h"

#include "sampled.h"
#include "text.h"
#include "timeline.h"

struct trace;

enum {
  TIME_RUNNING,
  TIME_PREEMPTED, // could run, but the scheduler has stopped the thread
  TIME_OFF_CPU,   // preempted, or in a wait that the trace does not show
  TIME_RUNNABLE,  // woken or created, but not running yet
  TIME_CALL,      // in a system call
  TIME_WAITS,     // the first reason of waits
  TIME_KINDS = 32 // the last kind counts all further reasons
};

struct thread_times {
  uint64_t g, tid; // tid 0: not known
  struct trace_text name;
  bool is_alive;
  unsigned kind; // of the present state
  // Nanoseconds since the first event: when the thread first began, and up to
  // when its times are counted.
  uint64_t begin, until;
  // Nanoseconds. Go uses the number of an ended thread of C again, so life is
  // not always the time from the begin to the end.
  uint64_t life, ns[TIME_KINDS];
  struct sampled sampled; // its CPU samples
};

struct times {
  struct idmap ids; // maps a thread's number to its index in threads
  struct thread_times *threads;
  size_t count, capacity;
  struct trace_text reasons[TIME_KINDS]; // the names of the kinds
  unsigned kinds;                        // number of the kinds so far
};

// Returns the times of thread g. The next call may move them.
struct thread_times *times_of(struct times *t, uint64_t g);
// Names a thread after the function in which it starts.
void times_create(struct times *t, const struct trace *trace, uint64_t g,
                  uint64_t start_stack);
// Sets the state of a thread from the time `now` on.
void times_state(struct times *t, uint64_t g, uint64_t now,
                 enum thread_state state, struct trace_text reason);
// Counts ns nanoseconds before `now` as time of this kind. The thread runs now,
// and had no processor for this time since it runs.
void times_stopped(struct times *t, uint64_t g, uint64_t now, unsigned kind,
                   uint64_t ns);
// Counts a CPU sample of thread g.
void times_sample(struct times *t, const struct trace *trace, uint64_t g,
                  uint64_t stack);
// Counts the times of all threads up to `now`, and sorts their samples.
void times_count(struct times *t, uint64_t now);
// Returns the name of a kind of time, such as "running" or "sync".
struct trace_text times_name(const struct times *t, unsigned kind);
void times_clear(struct times *t);

#endif
