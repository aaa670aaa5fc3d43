// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The implementation of timeline.h for mprof-trace-top. It collects the longest
// waits, the lines of the program that ended waits, and the lines that released
// locks for which other threads waited.
//
// The line that ends a wait for a lock often does not cause the wait. If many
// threads wait for a lock that one thread holds for a long time, only one wait
// ends when this thread releases the lock. The other threads then get the lock
// one after the other. MProf therefore stores in the trace how long all waiters
// have waited at each release. A wait for a lock is counted by these charges
// only, and not where it was ended. Traces of Go and traces in format 1.5 have
// no charges.
//
// Memory grows with the number of threads and the number of such lines, not
// with the number of waits.

#ifndef MPROF_TRACE_WAITS_H
#define MPROF_TRACE_WAITS_H

#include "text.h"

#include <stdint.h>

struct timeline;
struct trace;

// The line that represents a stack: the innermost line of the program itself.
// Lines in system headers, such as those of std::mutex, are skipped.
struct place {
  struct trace_text function, file; // empty if not known
  uint64_t line, pc;                // pc 0: there is no stack
};

struct wait {
  uint64_t g;
  struct trace_text reason;
  struct place at;
  uint64_t start, length; // in nanoseconds; start: since the first event
  // How the wait ended. WAIT_OPEN: the wait had not ended at the trace's end.
  enum { WAIT_WOKEN, WAIT_BY_ITSELF, WAIT_OPEN } end;
  uint64_t waker; // thread that ended the wait; 0: not known
  struct place woken_at;
};

// A group of waits: all waits that the same line ended. Waits that ended by
// themselves form one group, and waits that did not end form another.
struct wait_end {
  uint64_t count, total, longest; // total and longest in nanoseconds
  struct wait example;
};

// A line that has released locks for which other threads waited.
struct holder {
  uint64_t count;          // number of releases
  uint64_t total, longest; // charges of the releases, in nanoseconds
  uint64_t first;          // time of the first release
  struct place at;
};

struct waits {
  uint64_t count, total;       // number and time of all waits; nanoseconds
  uint64_t duration, threads;  // trace's nanoseconds and number of threads
  const struct wait *longest;  // longest first
  size_t longest_count;        // at most the number passed to waits_begin
  const struct wait_end *ends; // largest total first
  size_t end_count;
  const struct holder *holders; // largest total first
  size_t holder_count;
};

// Returns a timeline that collects waits. reason: counts only waits with this
// reason; NULL: all waits. longest: number of the longest waits to keep.
struct timeline *waits_begin(const struct trace *trace, const char *reason,
                             size_t longest);
// Returns the result after the last event. It is valid until waits_free.
struct waits waits_end(struct timeline *line);
// Returns the thread's name, which may be empty.
struct trace_text waits_thread_name(struct timeline *line, uint64_t g);
void waits_free(struct timeline *line);

#endif
