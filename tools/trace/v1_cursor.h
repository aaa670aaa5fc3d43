// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the events of one stream in Go's trace formats 1.5 to 1.21. A stream
// has the events of one P. event.h explains G and P.

#ifndef MPROF_TRACE_V1_CURSOR_H
#define MPROF_TRACE_V1_CURSOR_H

#include "event.h"

#include <stdbool.h>

struct stream;
struct trace;

// The position in a stream. Before the first event, only the field stream is
// set, and all other fields are 0.
struct v1_cursor {
  const struct stream *stream;
  size_t batch; // index of the next batch
  // First unread byte and end of the current batch.
  const uint8_t *at, *end;
  // Time and sequence number of the last event.
  uint64_t ticks, seq;
  uint64_t g;              // G that runs on the P after the last event; 0: none
  struct trace_event head; // the last event that was read
  // Global sequence number of head, only in format 1.5.
  uint64_t head_seq;
  // v1_order.c: index of the next cursor in the list of cursors that wait for
  // the same G.
  int next_parked;
};

// Decodes the stream's next event into cursor->head. Returns false at the end
// of the stream.
bool v1_next_event(struct v1_cursor *cursor, struct trace *t);

#endif
