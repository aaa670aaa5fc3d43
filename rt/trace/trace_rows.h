// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of a trace session, and the records that threads put into them. Each
// thread of the session has a row, and only that thread writes it. A record is
// made between mprof_trace_enter and mprof_trace_leave, with the guard set.
// Where full buffers go, trace_out.c and trace_reader.c decide.

#ifndef MPROF_RT_TRACE_TRACE_ROWS_H
#define MPROF_RT_TRACE_TRACE_ROWS_H

#include "sys/flags.h"
#include "sys/lock.h"
#include "thread/threads.h"
#include "trace/trace_types.h"
#include "trace_hooks/trace_hooks.h"

// Returns whether the program takes a trace by mprof_trace_read. It does so
// from the begin of the session until it has read the whole trace, which may be
// after the session's end.
bool mprof_trace_is_read(void);

// Returns whether only the newest part of the trace is kept (a flight
// recorder). A program that reads the trace gets all of it.
static inline bool mprof_trace_is_recorder(void) {
  return (mprof_flags.trace_last[0] != '\0' ||
          mprof_flags.trace_last_mb != 0) &&
         !mprof_trace_is_read();
}

// Begins a record: returns the calling thread's row, which then has room for
// that many bytes. Returns NULL if there is no session, and also if there is no
// memory: then the session ends, unless it is a recorder, which leaves out a
// thread for which no buffer is left. Call with the guard set.
struct mprof_trace_row *mprof_trace_enter(uint32_t bytes);
// Makes room in a row that the caller has entered. Returns false if there is no
// memory.
bool mprof_trace_has_room(struct mprof_trace_row *r, uint32_t bytes);
// Ends the trace record that the calling thread is making.
static inline void mprof_trace_leave(void) {
  atomic_store_explicit(&mprof_tls.self->in_trace, 0, memory_order_release);
}
// Puts the type and the time of a record into a row. now: time of the clock; a
// time before the row's last record becomes the time of that record. Returns
// the address for the record's numbers. mprof_trace_finish takes their end.
static inline unsigned char *mprof_trace_begin(struct mprof_trace_row *r,
                                               enum mprof_trace_type type,
                                               uint64_t now) {
  unsigned char *p = r->last->data + r->last->len;
  uint64_t t = mprof_trace_ticks(now);
  if (t < r->ticks)
    t = r->ticks;
  *p++ = (unsigned char)type;
  p = mprof_trace_put(p, t - r->ticks);
  r->ticks = t;
  return p;
}
static inline void mprof_trace_finish(struct mprof_trace_row *r,
                                      const unsigned char *end) {
  r->last->len = (uint32_t)(end - r->last->data);
}

// Returns a number for a thread that is new to the trace.
uint64_t mprof_trace_new_g(void);
// Returns the handle of a stack: op, the hooked function's address, as the leaf
// and the callers of frame below it. Returns 0 if there is no memory.
uint32_t mprof_trace_stack(uintptr_t op, uintptr_t frame);

// Returns the first of the session's rows. Rows are only added to the list.
struct mprof_trace_row *mprof_trace_rows(void);
// Frees the rows of a session that has ended. Takes trace_lock.
void mprof_trace_forget(struct mprof_trace_row *rows);

// The hook `created`: brings a new thread into the session in which it was
// created as number g. start: the stack of the function that it runs.
void mprof_trace_created(uint64_t g, uint32_t start, unsigned session);
// The hook `thread_end`: records the end of the calling thread.
void mprof_trace_thread_end(void);

// --- for the begin and the end of sessions, with trace_lock held ---

// Begins a new session without rows.
void mprof_trace_begin_rows_locked(void);
// Returns a row that no thread has, or NULL if there is no memory.
struct mprof_trace_row *mprof_trace_new_row_locked(void);
// Puts the calling thread's first records into a row, which must have room for
// two. g: the thread's number; tid: its id; from: how it comes into the trace;
// start: the stack of the function that it runs, 0 if unknown.
void mprof_trace_put_begin(struct mprof_trace_row *r, uint64_t g, int tid,
                           enum mprof_trace_from from, uint32_t start);
// Takes all rows from the session and returns them.
struct mprof_trace_row *mprof_trace_take_rows_locked(void);
// Frees rows like mprof_trace_forget.
void mprof_trace_forget_locked(struct mprof_trace_row *list);
// Sets what mprof_trace_is_read returns.
void mprof_trace_set_read(bool is_read);
// Drops all rows in a forked child.
void mprof_trace_rows_reset(void);

// Where full buffers go. The files that write a trace lie above the rows, so
// they set these pointers at start.
extern struct mprof_trace_outlet {
  bool (*make_room)(struct mprof_trace_row *rows, uint64_t until);
  uint64_t (*wait_until)(void);
  void (*news)(void); // a buffer is complete
} mprof_trace_outlet;

extern struct mprof_lock mprof_trace_lock;

#endif // MPROF_RT_TRACE_TRACE_ROWS_H
