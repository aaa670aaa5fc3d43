// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The writer of a trace. It holds the data that all formats share while a file
// is written. It numbers the strings and the stacks, and writes the file in
// this order:
//
//   head | batches, one for each buffer | tail: stacks, strings, frequency
//
// A format (trace_format.h) encodes the events. Call all functions with
// trace_lock held. The one exception: during a session, a thread that writes
// buffers to make room calls them without the lock (trace_out.c).

#ifndef MPROF_RT_TRACE_WRITE_TRACE_H
#define MPROF_RT_TRACE_WRITE_TRACE_H

#include "symbolize/pctable.h"
#include "trace/trace_format.h"
#include "trace/trace_types.h"

struct mprof_bucket;

// The receiver of the written bytes.
struct mprof_trace_sink {
  // Accepts len bytes. The owner of the sink remembers errors; the writer is
  // not told about them.
  void (*put)(void *arg, const void *data, size_t len);
  void *arg;
};

// Creates a writer. processors: number of processors to be shown in the file.
// Returns NULL if there is no memory.
struct mprof_trace_writer;
struct mprof_trace_writer *
mprof_trace_writer_new(const struct mprof_trace_format *format,
                       const struct mprof_trace_sink *sink,
                       unsigned processors);
void mprof_trace_writer_free(struct mprof_trace_writer *w);
// Returns the number of events written so far.
uint64_t mprof_trace_writer_events(const struct mprof_trace_writer *w);
// Returns the number of stacks that have been numbered so far.
// mprof_trace_write_tail writes these stacks.
size_t mprof_trace_writer_stacks(const struct mprof_trace_writer *w);
// Returns the first error of the writer as 0 or -errno. Errors of the sink are
// not included.
int mprof_trace_writer_error(const struct mprof_trace_writer *w);

// Write the head and the tail of the file. Between these two calls, the caller
// writes all buffers with mprof_trace_write_batch, the buffers of one row in
// their order. last_ticks: time of the last record.
void mprof_trace_write_head(struct mprof_trace_writer *w);
void mprof_trace_write_tail(struct mprof_trace_writer *w, uint64_t last_ticks);

// A growable list. mprof_os_map provides its memory.
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
  struct mprof_pc_table stacks; // maps a handle to the number of its stack
  struct mprof_trace_list
      handles; // handles, in order of the numbers of their stacks
  struct mprof_pc_table strings; // maps a hash to the number of its string
  uint64_t strings_len;          // last number given to a string
  // Maps an address to 1 + (index of its first frame << 8 | number of its
  // frames).
  struct mprof_pc_table pcs;
  struct mprof_trace_list frames; // the frames that pcs refers to
  size_t frames_of_pc;            // frames added for the current address
  bool is_start; // the current address is that of a start function
  int error;     // -errno, 0 for none
};

// Writes an event in the writer's format. type: the format's number of the
// event type. The arguments of the event follow.
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
// Return the number by which events refer to a stack or a string. 0 means that
// there is none, or that there is no memory. mprof_trace_start_number is for
// the stack of a start function. If handle is 0, it returns the number of a
// stack that represents an unknown start function, because readers require a
// stack.
uint64_t mprof_trace_stack_number(struct mprof_trace_writer *w,
                                  uint64_t handle);
uint64_t mprof_trace_start_number(struct mprof_trace_writer *w, uint64_t handle,
                                  uint64_t tid);
uint64_t mprof_trace_string_number(struct mprof_trace_writer *w, const char *s);
// Returns the number of the string whose name has this handle.
uint64_t mprof_trace_name_number(struct mprof_trace_writer *w, uint64_t handle);
// Writes a text of len bytes as a string, and returns its new number. Equal
// texts get different numbers, so use this for texts that rarely repeat.
uint64_t mprof_trace_text_number(struct mprof_trace_writer *w,
                                 const unsigned char *s, size_t len);

// The frames of a stack. Each frame is encoded as address, function, file and
// line. Readers accept at most 2,048 bytes for a stack, including its number
// and its length.
enum { MPROF_TRACE_FRAMES_BYTES = 2038 };
struct mprof_trace_frames {
  unsigned char bytes[MPROF_TRACE_FRAMES_BYTES];
  size_t len, count;
};
// Encodes the frames of the stack with this handle. Omits frames that exceed
// the limits of readers.
void mprof_trace_stack_frames(struct mprof_trace_writer *w, uint32_t handle,
                              struct mprof_trace_frames *f);
// Returns the bucket with this handle, or NULL if the handle represents an
// unknown start function.
const struct mprof_bucket *mprof_trace_stack_bucket(uint32_t handle);
// Returns the number of the trace's ticks per second, at least 1.
uint64_t mprof_trace_frequency(void);

#endif // MPROF_RT_TRACE_WRITE_TRACE_H
