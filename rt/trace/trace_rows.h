// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of a trace session. Each thread of the session owns a row, and adds
// its records to that row only. A thread adds a record between
// mprof_trace_enter and mprof_trace_leave, with the guard set. The files
// trace_out.c and trace_reader.c take the full buffers from the rows.

#ifndef MPROF_RT_TRACE_TRACE_ROWS_H
#define MPROF_RT_TRACE_TRACE_ROWS_H

#include "sys/flags.h"
#include "sys/lock.h"
#include "thread/threads.h"
#include "trace/trace_types.h"
#include "trace_hooks/trace_hooks.h"

// Returns whether the program reads the trace by mprof_trace_read. This is so
// from the begin of the session until the program has read the whole trace,
// which may be after the end of the session.
bool mprof_trace_is_read(void);

// Returns whether the trace is a flight recorder, which keeps only the newest
// part. A program that reads the trace gets all parts, so that trace is no
// flight recorder.
static inline bool mprof_trace_is_recorder(void) {
  return (mprof_flags.trace_last[0] != '\0' ||
          mprof_flags.trace_last_mb != 0) &&
         !mprof_trace_is_read();
}

// Begins a record. Returns the row of the calling thread, which then has room
// for `bytes` bytes. Returns NULL if there is no session, or if there is no
// memory. Lack of memory also ends the session. A flight recorder goes on in
// that case, without this thread. Call with the guard set.
struct mprof_trace_row *mprof_trace_enter(uint32_t bytes);
// Makes room for `bytes` bytes in row r, which the caller has entered. Returns
// false if there is no memory.
bool mprof_trace_has_room(struct mprof_trace_row *r, uint32_t bytes);
// Leaves the row that mprof_trace_enter has entered.
static inline void mprof_trace_leave(void) {
  atomic_store_explicit(&mprof_tls.self->in_trace, 0, memory_order_release);
}
// Writes the type and the time of a record to row r. now: time of the clock. If
// now is earlier than the last record of the row, the time of that record is
// used. Returns the address at which the arguments of the record begin. When
// the caller has written them, it passes their end to mprof_trace_finish.
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

// Returns a new thread number.
uint64_t mprof_trace_new_g(void);
// Returns the handle of a stack. Its leaf frame is op, the address of the
// hooked function, or nothing if op is 0. The caller of the frame at address
// `frame` and its callers follow. Returns 0 if there is no memory.
uint32_t mprof_trace_stack(uintptr_t op, uintptr_t frame);

// Returns the first row of the session. During a session rows are only added to
// the list.
struct mprof_trace_row *mprof_trace_rows(void);
// Frees the rows of an ended session. Acquires trace_lock.
void mprof_trace_forget(struct mprof_trace_row *rows);

// Implements the hook `created`: adds the calling thread, which is new, to the
// session. g: number that the creating thread gave it; start: stack of its
// start function; session: the session in which it was created.
void mprof_trace_created(uint64_t g, uint32_t start, unsigned session);
// Implements the hook `thread_end`: records the end of the calling thread.
void mprof_trace_thread_end(void);

// --- begin and end of sessions; call with trace_lock held ---

// Begins a session that has no rows yet.
void mprof_trace_begin_rows_locked(void);
// Returns a row that no thread owns, or NULL if there is no memory.
struct mprof_trace_row *mprof_trace_new_row_locked(void);
// Adds the first records of the calling thread to row r, which must have room
// for two records. g: number of the thread; tid: its kernel id; from: how it
// enters the trace; start: handle of the stack of its start function, 0 if
// unknown.
void mprof_trace_put_begin(struct mprof_trace_row *r, uint64_t g, int tid,
                           enum mprof_trace_from from, uint32_t start);
// Removes all rows from the session and returns them.
struct mprof_trace_row *mprof_trace_take_rows_locked(void);
// Frees rows as mprof_trace_forget does.
void mprof_trace_forget_locked(struct mprof_trace_row *list);
// Sets what mprof_trace_is_read returns.
void mprof_trace_set_read(bool is_read);
// Drops all rows in a forked child.
void mprof_trace_rows_reset(void);

// The functions that take full buffers from the rows. The files that write a
// trace include this header, so the rows cannot call those files directly:
// mprof_trace_hooks_init sets these pointers.
extern struct mprof_trace_outlet {
  bool (*make_room)(struct mprof_trace_row *rows, uint64_t until);
  uint64_t (*wait_until)(void);
  void (*news)(void); // reports a complete buffer
} mprof_trace_outlet;

extern struct mprof_lock mprof_trace_lock;

#endif // MPROF_RT_TRACE_TRACE_ROWS_H
