// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a session's rows to a file. trace_records.c makes events of records;
// write_trace.c has what is beneath: the file, numbers of strings and stacks.
// Only they and trace.c include this. All is under trace_lock, or for what is
// written while the session goes on by the thread that has the turn (trace.c).

#ifndef MPROF_RT_WRITE_TRACE_H
#define MPROF_RT_WRITE_TRACE_H

#include "trace.h"
#include "writer.h"

// Where what is written goes.
struct mprof_trace_sink {
  // Takes len bytes; what fails is for whoever has the sink to know.
  void (*put)(void *arg, const void *data, size_t len);
  void *arg;
};

// NULL when there is no memory.
struct mprof_trace_writer;
struct mprof_trace_writer *
mprof_trace_writer_new(const struct mprof_trace_sink *sink,
                       unsigned processors);
void mprof_trace_writer_free(struct mprof_trace_writer *w);
uint64_t mprof_trace_writer_events(const struct mprof_trace_writer *w);
// 0 or the first errno value of its own.
int mprof_trace_writer_error(const struct mprof_trace_writer *w);

// The file's first bytes; a batch of each buffer, those of a row in their
// order; and the rest. last_ticks: of the last record.
void mprof_trace_write_head(struct mprof_trace_writer *w);
void mprof_trace_write_batch(struct mprof_trace_writer *w,
                             struct mprof_trace_row *r,
                             const struct mprof_trace_buf *b);
void mprof_trace_write_tail(struct mprof_trace_writer *w, uint64_t last_ticks);

// --- trace_records.c ---

struct mprof_trace_record {
  enum mprof_trace_type type;
  uint64_t ticks; // since the row's last record
  // Its numbers, in the order of enum mprof_trace_type's comments; of WAKE
  // after the stack who signed and its sequence number, 0 for nobody.
  uint64_t n[4];
  const unsigned char *text; // of LOG
};
// Reads one; returns where the next begins.
const unsigned char *mprof_trace_read_record(const unsigned char *p,
                                             struct mprof_trace_record *r);
// Writes its events, into the batch that is under way.
void mprof_trace_write_record(struct mprof_trace_writer *w,
                              struct mprof_trace_written *to,
                              const struct mprof_trace_record *r);

// --- trace_window.c ---

// Whether nothing of the rows is missing or older than that.
bool mprof_trace_is_whole(const struct mprof_trace_row *rows,
                          uint64_t wanted_ticks);
// What mprof_trace_write_batch does of all rows, but from a time on. 0 or an
// errno value.
int mprof_trace_write_window(struct mprof_trace_writer *w,
                             struct mprof_trace_row *rows,
                             uint64_t wanted_ticks);

// --- between the files ---

// Go's numbers. (Go: traceEv*)
enum event {
  EV_BATCH = 1,
  EV_FREQUENCY = 2,
  EV_STACK = 3,
  EV_GOMAXPROCS = 4,
  EV_PROC_START = 5,
  EV_PROC_STOP = 6,
  EV_GC_START = 7,
  EV_GC_DONE = 8,
  EV_GO_CREATE = 13,
  EV_GO_START = 14,
  EV_GO_END = 15,
  EV_GO_SLEEP = 19,
  EV_GO_UNBLOCK = 21,
  EV_GO_BLOCK_SELECT = 24,
  EV_GO_BLOCK_SYNC = 25,
  EV_GO_BLOCK_COND = 26,
  EV_GO_BLOCK_NET = 27,
  EV_GO_SYS_CALL = 28,
  EV_GO_SYS_EXIT = 29,
  EV_GO_SYS_BLOCK = 30,
  EV_GO_WAITING = 31,
  EV_GO_IN_SYSCALL = 32,
  EV_HEAP_ALLOC = 33,
  EV_STRING = 37,
  EV_USER_TASK_CREATE = 45,
  EV_USER_TASK_END = 46,
  EV_USER_REGION = 47,
  EV_USER_LOG = 48,
};

// Writes an event. Its first number is the ticks since the last one, but for
// those that have none.
void mprof_trace_emit(struct mprof_trace_writer *w, enum event type,
                      const uint64_t *args, size_t n);
#define EVENT(w, type, ...)                                                    \
  mprof_trace_emit(w, type, (const uint64_t[]){__VA_ARGS__},                   \
                   sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
void mprof_trace_emit_bytes(struct mprof_trace_writer *w, const void *data,
                            size_t len);
// The numbers that events name a stack and a string by. The stack of what a
// thread runs is never none: readers want one.
uint64_t mprof_trace_stack_number(struct mprof_trace_writer *w,
                                  uint64_t handle);
uint64_t mprof_trace_start_number(struct mprof_trace_writer *w, uint64_t handle,
                                  bool is_main);
uint64_t mprof_trace_string_number(struct mprof_trace_writer *w, const char *s);
unsigned mprof_trace_processors(const struct mprof_trace_writer *w);

#endif // MPROF_RT_WRITE_TRACE_H
