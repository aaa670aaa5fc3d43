// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a session, and the records that threads put into their own.

#ifndef MPROF_RT_TRACE_TRACE_ROWS_H
#define MPROF_RT_TRACE_TRACE_ROWS_H

#include "sys/flags.h"
#include "sys/lock.h"
#include "thread/threads.h"
#include "trace/trace_types.h"
#include "trace_hooks/trace_hooks.h"

// Whether there is a trace that the program takes by mprof_trace_read, which
// lasts until it has taken all. The others belong to its session.
bool mprof_trace_is_read(void);

// Whether the options ask for the newest part only. Who reads takes all.
static inline bool mprof_trace_is_recorder(void) {
  return (mprof_flags.trace_last[0] != '\0' ||
          mprof_flags.trace_last_mb != 0) &&
         !mprof_trace_is_read();
}

// The calling thread's row with room for a record of so many bytes, or NULL:
// there is no session, or no memory, which ends it; a recorder does without
// threads that come when all of it is others'. Guard set.
struct mprof_trace_row *mprof_trace_enter(uint32_t bytes);
// Makes room in a row of the caller's own; false if there is no memory.
bool mprof_trace_has_room(struct mprof_trace_row *r, uint32_t bytes);
// Ends the trace record that the calling thread is making.
static inline void mprof_trace_leave(void) {
  atomic_store_explicit(&mprof_tls.self->in_trace, 0, memory_order_release);
}
// Begins a record at a time of the clock; the row's last record is the earliest
// that it can be. Returns where its numbers go; mprof_trace_finish takes their
// end.
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

// The number of a thread that is new to the trace.
uint64_t mprof_trace_new_g(void);
// The handle of the stack at frame below op, 0 if there is no room for it.
uint32_t mprof_trace_stack(uintptr_t op, uintptr_t frame);

// The session's rows, which only grow in number; and frees those of one that
// has ended.
struct mprof_trace_row *mprof_trace_rows(void);
void mprof_trace_forget(struct mprof_trace_row *rows);

// First in the new thread, which was created so in a session.
void mprof_trace_created(uint64_t g, uint32_t start, unsigned session);
// The thread ends.
void mprof_trace_thread_end(void);

// --- for the begin and the end of sessions, with trace_lock held ---

// Begins the rows of a new session, which has none yet.
void mprof_trace_begin_rows_locked(void);
// Returns a row that no thread has, or NULL if there is no memory.
struct mprof_trace_row *mprof_trace_new_row_locked(void);
// Puts the calling thread's first records into a row, which has room for two:
// its number, its id, how it comes into the trace, and the stack of the
// function that it runs, 0 if unknown.
void mprof_trace_put_begin(struct mprof_trace_row *r, uint64_t g, int tid,
                           enum mprof_trace_from from, uint32_t start);
// Returns the session's rows, and leaves it none.
struct mprof_trace_row *mprof_trace_take_rows_locked(void);
// As mprof_trace_forget.
void mprof_trace_forget_locked(struct mprof_trace_row *list);
// Sets what mprof_trace_is_read returns.
void mprof_trace_set_read(bool is_read);
// In a forked child: there are no rows.
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
