// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The implementation of timeline.h for mprof-trace-top. It collects the longest
// waits, and the lines of the program at which waits were ended.
//
// Memory grows with the number of threads and of these lines, not with the
// number of waits.

#ifndef MPROF_TRACE_WAITS_H
#define MPROF_TRACE_WAITS_H

#include "text.h"

#include <stdint.h>

struct timeline;
struct trace;

// The line that stands for a stack: the innermost line of the program itself.
// Lines of the system's headers, such as those of std::mutex, are skipped.
struct place {
  struct trace_text function, file; // empty if not known
  uint64_t line, pc;                // pc 0: there is no stack
};

struct wait {
  uint64_t g;
  struct trace_text reason;
  struct place at;
  uint64_t start, length; // in nanoseconds; start: since the first event
  // How the wait ended. WAIT_OPEN: not before the end of the trace.
  enum { WAIT_WOKEN, WAIT_BY_ITSELF, WAIT_OPEN } end;
  uint64_t waker; // thread that ended the wait; 0: not known
  struct place woken_at;
};

// All waits that were ended at the same line. The waits that ended by
// themselves are one group, and so are the waits that did not end.
struct wait_end {
  uint64_t count, total, longest; // total and longest in nanoseconds
  struct wait example;
};

struct waits {
  uint64_t count, total;       // of all waits; total in nanoseconds
  uint64_t duration, threads;  // of the trace; duration in nanoseconds
  const struct wait *longest;  // longest first
  size_t longest_count;        // at most as many as asked for
  const struct wait_end *ends; // largest total first
  size_t end_count;
};

// Counts only waits with this reason; NULL: all. longest is the number of waits
// to keep.
struct timeline *waits_begin(const struct trace *trace, const char *reason,
                             size_t longest);
// Returns the result after the last event. It is valid until waits_free.
struct waits waits_end(struct timeline *line);
// Returns the thread's name, which may be empty.
struct trace_text waits_thread_name(struct timeline *line, uint64_t g);
void waits_free(struct timeline *line);

#endif
