// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of struct trace, for the files of the reader.

#ifndef MPROF_TRACE_TRACE_DATA_H
#define MPROF_TRACE_TRACE_DATA_H

#include "event.h"
#include "idmap.h"

enum { TRACE_HEADER_SIZE = 16 };

struct trace_visitor;

struct stack_range {
  size_t first, count; // index and number of the stack's frames in trace.frames
};

// A batch: consecutive events of one stream, between two batch headers.
struct batch {
  uint64_t start, end; // offsets in the file
  uint64_t ticks, seq; // base values for the differences in the first event
};

// A stream: all batches of one P (until 1.21) or of one M (from 1.22 on), in
// file order.
struct stream {
  uint64_t id;
  struct batch *batches;
  size_t count, capacity;
};

struct trace {
  const uint8_t *data;
  size_t size;
  enum { DATA_ALLOCATED, DATA_MAPPED, DATA_BORROWED } kind; // how to free data
  unsigned minor;
  const struct trace_visitor *visitor;
  uint64_t violations;

  uint64_t frequency; // ticks per second; 0: not known yet
  // Only in the generation format: data of the generation that is being read.
  uint64_t generation, generation_frequency;
  bool has_snapshot;
  // The tables of the trace. In the generation format, these are the tables of
  // the generation that is being read.
  struct idmap string_ids;
  struct trace_text *strings;
  size_t string_count, string_capacity;
  struct idmap stack_ids;
  struct stack_range *stacks;
  size_t stack_count, stack_capacity;
  struct trace_frame *frames;
  size_t frame_count, frame_capacity;
  struct idmap pcs; // index of the first frame with the pc
  struct idmap stream_ids;
  struct stream *streams;
  size_t stream_count, stream_capacity;
  struct trace_event *samples; // CPU samples
  size_t sample_count, sample_capacity;
};

#endif
