// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The writer of a trace: holds what all formats share while a file is written.
// It gives numbers to strings and stacks, and writes the file in this order:
//
//   head | batches, one for each buffer | tail: stacks, strings, frequency
//
// trace_format.h has the interface of a format, which makes the events. Call
// all functions with trace_lock held; while the session goes on, the thread
// that is writing buffers to make room calls them instead (trace_out.c).

#ifndef MPROF_RT_TRACE_WRITE_TRACE_H
#define MPROF_RT_TRACE_WRITE_TRACE_H

#include "symbolize/pctable.h"
#include "trace/trace_format.h"
#include "trace/trace_types.h"

struct mprof_bucket;

// The receiver of the written bytes.
struct mprof_trace_sink {
  // Takes len bytes. The owner of the sink remembers errors; the writer does
  // not see them.
  void (*put)(void *arg, const void *data, size_t len);
  void *arg;
};

// Makes a writer. processors: number of processors that the file shows. Returns
// NULL if there is no memory.
struct mprof_trace_writer;
struct mprof_trace_writer *
mprof_trace_writer_new(const struct mprof_trace_format *format,
                       const struct mprof_trace_sink *sink,
                       unsigned processors);
void mprof_trace_writer_free(struct mprof_trace_writer *w);
// Returns the number of events written so far.
uint64_t mprof_trace_writer_events(const struct mprof_trace_writer *w);
// Returns the number of stacks that have a number. The tail writes them.
size_t mprof_trace_writer_stacks(const struct mprof_trace_writer *w);
// Returns 0 or -errno of the writer itself, not of the sink.
int mprof_trace_writer_error(const struct mprof_trace_writer *w);

// Write the head and the tail of the file. In between, the caller writes the
// buffers by mprof_trace_write_batch, those of each row in their order.
// last_ticks: time of the last record.
void mprof_trace_write_head(struct mprof_trace_writer *w);
void mprof_trace_write_tail(struct mprof_trace_writer *w, uint64_t last_ticks);

// A list that grows. Its memory comes from mprof_os_map.
struct mprof_trace_list {
  void *v;
  size_t len, bytes; // number of items; bytes mapped
};

struct mprof_trace_writer {
  struct mprof_trace_sink sink;
  const struct mprof_trace_format *format;
  void *state; // state of the format
  unsigned processors;
  uint64_t events;
  struct mprof_pc_table stacks;    // from handle to number of the stack
  struct mprof_trace_list handles; // handles in the order of their numbers
  struct mprof_pc_table strings;   // from hash to number of the string
  uint64_t strings_len;            // last number given to a string
  // From address to 1 + (index of the first frame << 8 | number of frames).
  struct mprof_pc_table pcs;
  struct mprof_trace_list frames; // frames of all addresses in pcs
  size_t frames_of_pc;            // number of frames of the present address
  int error;                      // -errno, 0 for none
};

// Writes an event of the writer's format. type: the format's number of the
// event; its arguments follow.
#define EVENT(w, type, ...)                                                    \
  (w)->format->event(w, type, (const uint64_t[]){__VA_ARGS__},                 \
                     sizeof((const uint64_t[]){__VA_ARGS__}) /                 \
                         sizeof(uint64_t))

// Passes len bytes to the sink.
void mprof_trace_put_bytes(struct mprof_trace_writer *w, const void *data,
                           size_t len);
// Appends len items of size bytes each to a list. Returns false and sets
// w->error if there is no memory.
bool mprof_trace_append(struct mprof_trace_writer *w,
                        struct mprof_trace_list *l, const void *items,
                        size_t len, size_t size);
void mprof_trace_free_list(struct mprof_trace_list *l);
// Return the number by which events refer to a stack or a string; 0 for none,
// or if there is no memory. The second function is for the stack of a thread's
// start function: for handle 0 it gives the number of a stack that stands for
// an unknown start, because readers require one.
uint64_t mprof_trace_stack_number(struct mprof_trace_writer *w,
                                  uint64_t handle);
uint64_t mprof_trace_start_number(struct mprof_trace_writer *w, uint64_t handle,
                                  uint64_t tid);
uint64_t mprof_trace_string_number(struct mprof_trace_writer *w, const char *s);
// Returns the number of the string that a name's handle stands for.
uint64_t mprof_trace_name_number(struct mprof_trace_writer *w, uint64_t handle);
// Returns a new number for a text of len bytes. For texts that hardly occur
// twice: equal texts are not found again.
uint64_t mprof_trace_text_number(struct mprof_trace_writer *w,
                                 const unsigned char *s, size_t len);

// The frames of a stack, encoded as pc, function, file and line each. Readers
// accept at most 2,048 bytes, together with the number and the length.
enum { MPROF_TRACE_FRAMES_BYTES = 2038 };
struct mprof_trace_frames {
  unsigned char bytes[MPROF_TRACE_FRAMES_BYTES];
  size_t len, count;
};
// Encodes the frames of the stack of a handle. Frames beyond the readers'
// limits are left out.
void mprof_trace_stack_frames(struct mprof_trace_writer *w, uint32_t handle,
                              struct mprof_trace_frames *f);
// Returns the bucket of a handle; NULL for the handle of an unknown start.
const struct mprof_bucket *mprof_trace_stack_bucket(uint32_t handle);
// Returns the number of the trace's ticks per second, at least 1.
uint64_t mprof_trace_frequency(void);

#endif // MPROF_RT_TRACE_WRITE_TRACE_H
