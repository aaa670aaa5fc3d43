// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time axis of a timeline: nanoseconds since the first event.

#ifndef MPROF_TRACE_AXIS_H
#define MPROF_TRACE_AXIS_H

#include <stdbool.h>
#include <stdint.h>

struct trace;

struct axis {
  const struct trace *trace;
  bool begun;     // an event has been seen
  uint64_t first; // time of the first event, in nanoseconds
  uint64_t now;   // latest time so far, in nanoseconds since first
};

// Moves the current time to these ticks and returns it. If the ticks are
// earlier than those of a previous call, the current time does not change.
uint64_t axis_at(struct axis *axis, uint64_t ticks);
// Returns the time of these ticks, or 0 if they are before the first event.
// Does not move the current time.
uint64_t axis_time(const struct axis *axis, uint64_t ticks);

#endif
