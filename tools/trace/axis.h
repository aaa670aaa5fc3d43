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
  bool begun;     // there has been an event
  uint64_t first; // time of the first event, in nanoseconds
  uint64_t now;   // latest time so far, on the axis
};

// Moves the axis on to these ticks and returns their time. If they are earlier
// than the ticks of a call before, the time does not change.
uint64_t axis_at(struct axis *axis, uint64_t ticks);
// Returns the time of any ticks; 0 if they are before the first event.
uint64_t axis_time(const struct axis *axis, uint64_t ticks);

#endif
