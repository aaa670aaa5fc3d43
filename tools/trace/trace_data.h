// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of struct trace, for the source files that read a trace.

#ifndef MPROF_TRACE_TRACE_DATA_H
#define MPROF_TRACE_TRACE_DATA_H

#include "common/idmap.h"
#include "event.h"

enum { TRACE_HEADER_SIZE = 16 };

struct trace_visitor;

struct stack_range {
  // Index of the stack's first frame in trace.frames, and the number of frames.
  size_t first, count;
};

// A batch: the events of one stream between two batch headers in the file.
struct batch {
  // Offsets of the first byte and of the end in the file.
  uint64_t start, end;
  // Time in the batch header. The first event adds its difference to this time.
  uint64_t ticks;
};

// A stream: all batches of one M in file order. event.h explains M.
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
  // The file ends too early, for example because the program was killed. The
  // events before the end are read. Violations that follow from the missing
  // part are not reported.
  bool is_cut;

  uint64_t frequency; // ticks per second; 0: not known yet
  // Data of the generation that is being read.
  uint64_t generation, generation_frequency;
  bool has_snapshot; // a ClockSnapshot has been read
  // The tables of the generation that is being read.
  struct idmap string_ids;
  struct trace_text *strings;
  size_t string_count, string_capacity;
  struct idmap stack_ids;
  struct stack_range *stacks;
  size_t stack_count, stack_capacity;
  struct trace_frame *frames;
  size_t frame_count, frame_capacity;
  struct idmap pcs; // maps each pc to its first frame in frames
  struct idmap stream_ids;
  struct stream *streams;
  size_t stream_count, stream_capacity;
  struct trace_event *samples; // CPU samples
  size_t sample_count, sample_capacity;
};

#endif
