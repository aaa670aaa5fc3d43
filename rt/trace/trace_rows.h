// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of a trace session. A row is a list of record buffers that belongs
// to one thread at a time. Each thread adds its records to its own row only. A
// thread adds a record between mprof_trace_enter and mprof_trace_leave, with
// the recursion guard set. trace_out.c takes the full buffers
// from the rows.

#ifndef MPROF_RT_TRACE_TRACE_ROWS_H
#define MPROF_RT_TRACE_TRACE_ROWS_H

#include "options/flags.h"
#include "sys/lock.h"
#include "thread/threads.h"
#include "trace/trace_types.h"
#include "trace_hooks/trace_hooks.h"

// Returns whether the program reads the trace with mprof_trace_read. The result
// is true from the start of the session until the program has read the whole
// trace. This may be after the end of the session.
bool mprof_trace_is_read(void);

// Returns whether the trace is a flight recorder, which keeps only the newest
// part of the trace. The result is false if the program reads the trace with
// mprof_trace_read, because such a program gets all parts.
static inline bool mprof_trace_is_recorder(void) {
  return (mprof_flags.trace_last[0] != '\0' ||
          mprof_flags.trace_last_mb != 0) &&
         !mprof_trace_is_read();
}

// Begins a record. Returns the row (list of record buffers) of the calling
// thread, with room for `bytes` bytes. Returns NULL if there is no session or
// no memory. If there is no memory, also ends the session; but a flight
// recorder continues without this thread. Call with the recursion guard set.
struct mprof_trace_row *mprof_trace_enter(uint32_t bytes);
// Makes room for `bytes` bytes at the end of row r, with a new buffer if
// needed. Call this when no other thread can write to the row. Returns false if
// there is no memory.
bool mprof_trace_has_room(struct mprof_trace_row *r, uint32_t bytes);
// Ends the access to the row that mprof_trace_enter has returned.
static inline void mprof_trace_leave(void) {
  atomic_store_explicit(&mprof_tls.self->in_trace, 0, memory_order_release);
}
// Writes the type and the time of a record to row r. now: time of the clock; if
// now is earlier than the last record of the row, the time of that record is
// used. Returns the address for the arguments of the record. After writing the
// arguments, the caller passes their end to mprof_trace_finish.
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
  // The store comes after those of the record, because a process that is killed
  // must leave a complete record, or none, in the file of the option persist.
  struct mprof_trace_buf *b = r->last;
  __atomic_store_n(&b->len, (uint32_t)(end - b->data), __ATOMIC_RELEASE);
}

// Returns a new thread number.
uint64_t mprof_trace_new_g(void);
// Returns the handle of the calling thread's stack, or 0 if there is no memory.
// op: address of the hooked function, which becomes the leaf; 0: no hooked
// function is added. frame: a frame address; the function to which this frame
// returns is the first frame of the stack after the leaf.
uint32_t mprof_trace_stack(uintptr_t op, uintptr_t frame);

// Returns the first row of the session's list of rows. A row is a list of
// record buffers. During a session, rows are added to the list but never
// removed.
struct mprof_trace_row *mprof_trace_rows(void);
// Frees the rows (lists of record buffers) of an ended session. Acquires
// trace_lock.
void mprof_trace_forget(struct mprof_trace_row *rows);

// Implements the hook `created`: adds the calling thread, which has just
// started, to the session. g: number that the creating thread gave to this
// thread. start: handle of the stack of the start function. session: number of
// the session in which the thread was created.
void mprof_trace_created(uint64_t g, uint32_t start, unsigned session);
// Implements the hook `thread_end`: records the end of the calling thread.
void mprof_trace_thread_end(void);

// --- begin and end of sessions; call with trace_lock held ---

// Prepares the list of rows (lists of record buffers) for a new session. The
// list is empty after this call. keep_ns: the option trace_last.
void mprof_trace_begin_rows_locked(uint64_t keep_ns);
// Returns a row (list of record buffers) that no thread owns, or NULL if there
// is no memory.
struct mprof_trace_row *mprof_trace_new_row_locked(void);
// Gives row r, to which no thread writes any more, to the next thread that
// needs a row. Call with trace_lock held.
void mprof_trace_return_row_locked(struct mprof_trace_row *r);
// Adds the first records of the calling thread to row r, which must have room
// for two records. g: number of the thread in the trace. tid: kernel id of the
// thread. from: how the thread enters the trace. start: handle of the stack of
// the start function; 0: unknown.
void mprof_trace_put_begin(struct mprof_trace_row *r, uint64_t g, int tid,
                           enum mprof_trace_from from, uint32_t start);
// Removes all rows (lists of record buffers) from the session and returns them.
struct mprof_trace_row *mprof_trace_take_rows_locked(void);
// Frees the rows of an ended session, like mprof_trace_forget. The caller holds
// trace_lock.
void mprof_trace_forget_locked(struct mprof_trace_row *list);
// Sets the result of mprof_trace_is_read.
void mprof_trace_set_read(bool is_read);
// Removes the parent's rows (lists of record buffers) from the list of rows in
// a forked child.
void mprof_trace_rows_reset(void);

// The functions that take full buffers from the rows. trace_rows.c cannot call
// these functions directly, because the files that define them include this
// header. Therefore mprof_trace_hooks_init sets these pointers.
extern MPROF_HIDDEN struct mprof_trace_outlet {
  bool (*make_room)(uint64_t until);
  uint64_t (*wait_until)(void);
  void (*news)(void); // wakes mprof_trace_read when a buffer is complete
} mprof_trace_outlet;

extern MPROF_HIDDEN struct mprof_lock mprof_trace_lock;

#endif // MPROF_RT_TRACE_TRACE_ROWS_H
