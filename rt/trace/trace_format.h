// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a format of the trace is. trace_records.c reads the records of a row and
// hands them to the format, which makes events of them:
//
//   write_trace_v1.c    1.11, and the events of 1.5 too
//   write_trace_v1_5.c  1.5: one order of all events
//   write_trace_v2.c    1.23

#ifndef MPROF_RT_TRACE_TRACE_FORMAT_H
#define MPROF_RT_TRACE_TRACE_FORMAT_H

#include "sys/base.h"

struct mprof_trace_record;
struct mprof_trace_writer;
struct mprof_trace_written;

struct mprof_trace_format {
  const char *name;   // as the option has it
  const char *header; // the file's first 16 bytes
  bool streams;       // batches can be written before all rows are there
  bool has_names;     // of functions, in stacks
  uint16_t string_max;
  size_t state_bytes; // of the writer's state, which begins as zeros
  // What follows is of a row, from a time on; and ends.
  void (*begin_batch)(struct mprof_trace_writer *w,
                      const struct mprof_trace_written *to, uint32_t row,
                      uint64_t ticks);
  void (*end_batch)(struct mprof_trace_writer *w);
  // Writes a record's events, the first so many ticks after the last; to is
  // what was before the record. False: there are none.
  bool (*record)(struct mprof_trace_writer *w, struct mprof_trace_written *to,
                 uint64_t ticks, const struct mprof_trace_record *r);
  // Writes an event of the format's numbers. Its first argument is the ticks
  // since the last one.
  void (*event)(struct mprof_trace_writer *w, unsigned type,
                const uint64_t *args, size_t n);
  // A string that has got a number.
  void (*string)(struct mprof_trace_writer *w, uint64_t number, const char *s,
                 size_t len);
  // After the last batch; then the stack that a handle names.
  void (*begin_stacks)(struct mprof_trace_writer *w, uint64_t last_ticks);
  void (*stack)(struct mprof_trace_writer *w, uint64_t number, uint32_t handle);
  // The file's end, after the stacks.
  void (*finish)(struct mprof_trace_writer *w, uint64_t last_ticks);
  void (*free_state)(void *state); // NULL: it has nothing of its own
};

#endif // MPROF_RT_TRACE_TRACE_FORMAT_H
