// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a timeline the waits alone: the longest, and at which lines of the program
// they were ended. Implements what timeline.h tells.
//
// Memory grows with the threads and these lines, not with the waits.

#ifndef MPROF_TRACE_WAITS_H
#define MPROF_TRACE_WAITS_H

#include "text.h"

#include <stdint.h>

struct timeline;
struct trace;

// The line of a stack that says most: the innermost of the program itself, not
// of the system's headers, as std::mutex's.
struct place {
  struct trace_text function, file; // empty if not known
  uint64_t line, pc;                // pc 0: there is no stack
};

struct wait {
  uint64_t g;
  struct trace_text reason;
  struct place at;
  uint64_t start, length; // nanoseconds; start is since the first event
  // How it ended.
  enum { WAIT_WOKEN, WAIT_BY_ITSELF, WAIT_OPEN } end;
  uint64_t waker; // 0: not known
  struct place woken_at;
};

// The waits that were ended at one line; all that ended by themselves, and all
// that did not end, are one.
struct wait_end {
  uint64_t count, total, longest; // the latter nanoseconds
  struct wait example;
};

struct waits {
  uint64_t count, total;       // of all waits; total in nanoseconds
  uint64_t duration, threads;  // of the trace, in nanoseconds; in it
  const struct wait *longest;  // longest first
  size_t longest_count;        // as many as asked for, if there are
  const struct wait_end *ends; // largest total first
  size_t end_count;
};

// reason: only waits with this one count, NULL: all.
struct timeline *waits_begin(const struct trace *trace, const char *reason,
                             size_t longest);
// After the last event. What it gives lives until waits_free.
struct waits waits_end(struct timeline *line);
// May be empty.
struct trace_text waits_thread_name(struct timeline *line, uint64_t g);
void waits_free(struct timeline *line);

#endif
