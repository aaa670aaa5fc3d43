// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The axis of time: nanoseconds since the first event.

#ifndef MPROF_TRACE_AXIS_H
#define MPROF_TRACE_AXIS_H

#include <stdbool.h>
#include <stdint.h>

struct trace;

struct axis {
  const struct trace *trace;
  bool begun; // there has been an event
  uint64_t first, now;
};

// Goes on to these ticks and returns their time. Ticks that go back are taken
// as the latest ones before.
uint64_t axis_at(struct axis *axis, uint64_t ticks);
uint64_t axis_time(const struct axis *axis, uint64_t ticks);

#endif
