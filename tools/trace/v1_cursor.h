// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the events of one stream in the formats 1.5 to 1.21. A stream has the
// events of one P.

#ifndef MPROF_TRACE_V1_CURSOR_H
#define MPROF_TRACE_V1_CURSOR_H

#include "event.h"

#include <stdbool.h>

struct stream;
struct trace;

// The position in a stream. A cursor with only stream set, and all other fields
// 0, is before the first event.
struct v1_cursor {
  const struct stream *stream;
  size_t batch;            // index of the next batch
  const uint8_t *at, *end; // rest of the current batch
  uint64_t ticks, seq;     // values of the last event
  uint64_t g;              // the running G after the last event; 0: none
  struct trace_event head; // the last event that was read
  uint64_t head_seq;       // global sequence number of head, in 1.5
  int next_parked;         // for v1_order.c: next cursor of a list
};

// Decodes the stream's next event into head. Returns false at the stream's end.
bool v1_next_event(struct v1_cursor *cursor, struct trace *t);

#endif
