// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consumes a timeline for mprof trace top. Collects the time of each thread in
// each state, the longest waits, the source lines at which threads ended waits,
// and the source lines that released locks for which other threads waited.
//
// The line that ends a wait for a lock often did not cause the wait. If many
// threads wait for a lock that one thread holds for a long time, only one wait
// ends when this thread releases the lock. The other threads then get the lock
// one after the other. Therefore MProf stores a charge in the trace for each
// release: the time that all waiters have waited for the lock. A wait for a
// lock is counted only in these charges, and not at the line that ended the
// wait. Traces of Go and traces in format 1.5 have no charges.
//
// Memory grows with the number of threads and with the number of different
// source lines, not with the number of waits.

#ifndef MPROF_TRACE_WAITS_H
#define MPROF_TRACE_WAITS_H

#include "place.h"
#include "window.h"

#include <stdint.h>

struct timeline;
struct times;
struct trace;

struct wait {
  uint64_t g;
  struct trace_text reason, lock; // lock: its name; empty: none
  struct place at;
  uint64_t start, length; // nanoseconds; start counts from the first event
  // How the wait ended. WAIT_WOKEN: another thread ended it. WAIT_BY_ITSELF:
  // the trace does not say who ended it, for example after a timeout.
  // WAIT_OPEN: the wait had not ended at the end of the trace.
  enum { WAIT_WOKEN, WAIT_BY_ITSELF, WAIT_OPEN } end;
  uint64_t waker; // thread that ended the wait; 0: not known
  struct place woken_at;
};

// A group of waits that were ended at the same source line. All waits that
// ended by themselves form one group. All waits that were still open at the end
// of the trace form another group.
struct wait_end {
  uint64_t count, total, longest; // total and longest in nanoseconds
  struct wait example;
};

// A source line that has released locks for which other threads waited.
struct holder {
  uint64_t count; // number of releases
  // Nanoseconds that other threads waited: for all releases together, and the
  // largest value of one release.
  uint64_t total, longest;
  uint64_t first; // time of the first release
  struct place at;
};

struct waits {
  // Number of all waits, and their total time in nanoseconds.
  uint64_t count, total;
  uint64_t duration;           // of the window, in nanoseconds; 0: it is empty
  const struct times *times;   // of all threads
  const struct wait *longest;  // longest first
  size_t longest_count;        // at most the number passed to waits_begin
  const struct wait_end *ends; // largest total first
  size_t end_count;
  const struct holder *holders; // largest total first
  size_t holder_count;
};

// Returns a timeline that collects waits. reason: only waits with this reason
// are collected; NULL: all waits are collected. longest: how many of the
// longest waits are kept. window: the part of the trace that counts; a wait
// counts with its part in the window.
struct timeline *waits_begin(const struct trace *trace, const char *reason,
                             size_t longest, struct trace_window window);
// Returns the result. Call this after the last event. The result is valid until
// waits_free.
struct waits waits_end(struct timeline *line);
// Returns the thread's name, which may be empty.
struct trace_text waits_thread_name(struct timeline *line, uint64_t g);
void waits_free(struct timeline *line);

#endif
