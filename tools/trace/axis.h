// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time axis of a timeline. Converts the ticks of a trace to nanoseconds
// since the first event.

#ifndef MPROF_TRACE_AXIS_H
#define MPROF_TRACE_AXIS_H

#include <stdbool.h>
#include <stdint.h>

struct trace;

struct axis {
  const struct trace *trace;
  bool begun;     // axis_at has been called, so first is valid
  uint64_t first; // ticks of the first event, converted to nanoseconds
  // Latest result of axis_at, in nanoseconds since the first event.
  uint64_t now;
};

// Converts the ticks of the event that is being read to a time, stores the time
// in axis->now, and returns axis->now. Does not change axis->now if the time is
// earlier than axis->now. The first call sets axis->first.
uint64_t axis_at(struct axis *axis, uint64_t ticks);

#endif
