// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of a file format of the trace: a table of functions.
// trace_records.c reads the records of each row (the records of one thread) and
// passes them to the format. The format encodes them as events:
//
//   write_trace_v1_23.c  format 1.23, the default
//   write_trace_v1_5.c   format 1.5; orders all events in one sequence

#ifndef MPROF_RT_TRACE_TRACE_FORMAT_H
#define MPROF_RT_TRACE_TRACE_FORMAT_H

#include "sys/base.h"

struct mprof_trace_forms;
struct mprof_trace_record;
struct mprof_trace_writer;
struct mprof_trace_written;

struct mprof_trace_format {
  const char *name;      // value of the option trace_format
  const char *header;    // first 16 bytes of the file
  bool streams;          // batches can be written during the session
  bool has_names;        // the file contains function names
  uint16_t string_max;   // maximum length of a string in bytes
  uint64_t stacks_after; // the first stack has this number plus 1
  size_t state_bytes;    // size of the format's state, which starts as zeros
  const struct mprof_trace_forms *forms; // for mprof_trace_put_events
  // begin_batch begins a batch, which contains the events of one buffer.
  // end_batch ends the batch.
  // row: number of the row (one thread's list of buffers) with this buffer.
  // ticks: base time of the batch. The time of the first event is written
  //   relative to this time.
  // to: how far the row has been written before this batch.
  void (*begin_batch)(struct mprof_trace_writer *w,
                      const struct mprof_trace_written *to, uint32_t row,
                      uint64_t ticks);
  void (*end_batch)(struct mprof_trace_writer *w);
  // Writes the events of record r. ticks: time since the previous event. to:
  // the state of the recorded thread before r, and what was written so far.
  // Returns false if the format has no event for the record.
  bool (*record)(struct mprof_trace_writer *w, struct mprof_trace_written *to,
                 uint64_t ticks, const struct mprof_trace_record *r);
  // Writes an event. type: the format's number of the event type. args: n
  // arguments, of which the first is the time since the previous event, in
  // ticks.
  void (*event)(struct mprof_trace_writer *w, unsigned type,
                const uint64_t *args, size_t n);
  // Writes string s of len bytes. Events refer to the string by `number`.
  void (*string)(struct mprof_trace_writer *w, uint64_t number, const char *s,
                 size_t len);
  // begin_stacks begins the part of the file that holds the stacks, after the
  // last batch. end_ticks: time of the end of the session. `stack` writes the
  // stack that `handle` refers to. Events refer to the stack by `number`.
  void (*begin_stacks)(struct mprof_trace_writer *w, uint64_t end_ticks);
  void (*stack)(struct mprof_trace_writer *w, uint64_t number, uint32_t handle);
  // Writes the end of the file, after the stacks.
  void (*finish)(struct mprof_trace_writer *w, uint64_t end_ticks);
  // Frees the memory to which the format's state has pointers. NULL: the state
  // has no such pointers.
  void (*free_state)(void *state);
};

#endif // MPROF_RT_TRACE_TRACE_FORMAT_H
