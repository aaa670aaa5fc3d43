// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a session's rows to a file. trace_format.h has how; this is for who has
// rows to write. All is under trace_lock, or for what is written while the
// session goes on by the thread that has the turn (trace.c).

#ifndef MPROF_RT_TRACE_WRITE_TRACE_H
#define MPROF_RT_TRACE_WRITE_TRACE_H

#include "symbolize/pctable.h"
#include "trace/trace_format.h"
#include "trace/trace_types.h"

struct mprof_bucket;

// Where what is written goes.
struct mprof_trace_sink {
  // Takes len bytes; what fails is for whoever has the sink to know.
  void (*put)(void *arg, const void *data, size_t len);
  void *arg;
};

// A writer of a format; NULL when there is no memory.
struct mprof_trace_writer;
struct mprof_trace_writer *
mprof_trace_writer_new(const struct mprof_trace_format *format,
                       const struct mprof_trace_sink *sink,
                       unsigned processors);
void mprof_trace_writer_free(struct mprof_trace_writer *w);
uint64_t mprof_trace_writer_events(const struct mprof_trace_writer *w);
// Of those that it has numbered, which are written by the tail.
size_t mprof_trace_writer_stacks(const struct mprof_trace_writer *w);
// 0 or the first errno value of its own.
int mprof_trace_writer_error(const struct mprof_trace_writer *w);

// The file's first bytes; a batch of each buffer, those of a row in their
// order; and the rest. last_ticks: of the last record.
void mprof_trace_write_head(struct mprof_trace_writer *w);
void mprof_trace_write_tail(struct mprof_trace_writer *w, uint64_t last_ticks);

// A list that grows, in memory from mprof_os_map.
struct mprof_trace_list {
  void *v;
  size_t len, bytes;
};

struct mprof_trace_writer {
  struct mprof_trace_sink sink;
  const struct mprof_trace_format *format;
  void *state; // the format's
  unsigned processors;
  uint64_t events;
  struct mprof_pc_table stacks;    // of handles, to numbers
  struct mprof_trace_list handles; // in the order of numbers
  struct mprof_pc_table strings;   // of hashes, to numbers
  uint64_t strings_len;
  // Of addresses, to 1 + the first frame << 8 | count.
  struct mprof_pc_table pcs;
  struct mprof_trace_list frames;
  size_t frames_of_pc;
  int error;
};

#define EVENT(w, type, ...)                                                    \
  (w)->format->event(w, type, (const uint64_t[]){__VA_ARGS__},                 \
                     sizeof((const uint64_t[]){__VA_ARGS__}) /                 \
                         sizeof(uint64_t))

void mprof_trace_put_bytes(struct mprof_trace_writer *w, const void *data,
                           size_t len);
// Appends len items of a size to a list. False if there is no memory.
bool mprof_trace_append(struct mprof_trace_writer *w,
                        struct mprof_trace_list *l, const void *items,
                        size_t len, size_t size);
void mprof_trace_free_list(struct mprof_trace_list *l);
// The numbers that events name a stack and a string by, 0 for none. The stack
// of what a thread runs is never none: readers want one.
uint64_t mprof_trace_stack_number(struct mprof_trace_writer *w,
                                  uint64_t handle);
uint64_t mprof_trace_start_number(struct mprof_trace_writer *w, uint64_t handle,
                                  uint64_t tid);
uint64_t mprof_trace_string_number(struct mprof_trace_writer *w, const char *s);
// Of the name that a handle stands for.
uint64_t mprof_trace_name_number(struct mprof_trace_writer *w, uint64_t handle);
// Of a text that hardly occurs twice.
uint64_t mprof_trace_text_number(struct mprof_trace_writer *w,
                                 const unsigned char *s, size_t len);

// The frames of a stack, as pc, function, file and line, as many as readers
// take: with number and length they are 2,048 bytes at most.
enum { MPROF_TRACE_FRAMES_BYTES = 2038 };
struct mprof_trace_frames {
  unsigned char bytes[MPROF_TRACE_FRAMES_BYTES];
  size_t len, count;
};
void mprof_trace_stack_frames(struct mprof_trace_writer *w, uint32_t handle,
                              struct mprof_trace_frames *f);
// The bucket of a handle; NULL of one that stands for an unknown start.
const struct mprof_bucket *mprof_trace_stack_bucket(uint32_t handle);
uint64_t mprof_trace_frequency(void);

#endif // MPROF_RT_TRACE_WRITE_TRACE_H
