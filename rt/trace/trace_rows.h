// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of a trace session, and how threads add records to them. trace_out.c
// takes the full buffers from the rows.

#ifndef MPROF_RT_TRACE_TRACE_ROWS_H
#define MPROF_RT_TRACE_TRACE_ROWS_H

#include "options/flags.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "thread/threads.h"
#include "trace/trace_buf.h"
#include "trace/trace_events.h"
#include "trace/trace_records.h"

// A row: a list of record buffers that belongs to one thread at a time. When
// the thread ends, another thread may take over the row. A thread adds records
// to its own row only, between mprof_trace_enter and mprof_trace_leave. At the
// end of the session, the thread that ends the session adds the last records.
// At that time, no thread is between these calls.
struct mprof_trace_row {
  // next: link in the list of all rows. next_unused: link in the list of rows
  // that no thread owns. Guarded by trace_lock.
  _Alignas(64) struct mprof_trace_row *next;
  struct mprof_trace_row *next_unused;
  // Oldest buffer. The thread that owns the row sets this pointer once, with
  // its first buffer. After that, only a thread that writes or drops buffers
  // changes the pointer.
  struct mprof_trace_buf *_Atomic first;
  struct mprof_trace_buf *last; // buffer that is being filled
  bool is_cut;                  // buffers older than `first` were dropped
  uint64_t ticks; // time of the last record, in ticks of the trace
  uint64_t g;     // number of the owning thread; 0: none, or it ended
  // Last sequence number of the owning thread. When the file is written, the
  // numbers are counted again, in written.thread.seq.
  uint32_t seq;
  uint32_t id;    // number of the row, from 0
  uint32_t start; // handle of the stack of the thread's start function
  int tid;
  char name[MPROF_THREAD_NAME]; // thread name that the trace has recorded
  bool is_named;                // the thread's name has been read
  bool has_own_name;            // `name` is not the program's name
  uint16_t labels;              // number of the recorded label set
  struct mprof_thread *thread;  // the thread that owns the row
  // true: the thread had not finished a record when the session ended. The
  // thread may continue the record at any time, so buffers must stay mapped.
  bool is_left;
  // Frame address of the runtime's function in which the thread waits; 0: the
  // thread does not wait. An event in a deeper frame is not recorded, because
  // it comes from a signal handler that interrupted the wait. A longjmp or an
  // exception may have left the wait. The runtime detects this at an event in
  // an outer frame, or if the data of the wait have changed (mprof_trace_runs).
  uintptr_t waits_in;
  const struct mprof_wait *wait; // data of the wait, in the frame at waits_in
  uint64_t waits_since; // start of the wait; identifies the wait at its end
  // Start time, stack and type of a wait that is recorded only when it ends.
  // open_ticks: start time in ticks of the trace, plus 1; 0: no such wait.
  uint64_t open_ticks;
  uint32_t open_stack;
  enum mprof_trace_type open_type;
  // End of the session; 0 during the session. The thread that ends the session
  // sets this field.
  uint64_t end_ticks;
  struct mprof_trace_written written;
  // For the option trace_schedule: since when the thread runs, in clock ticks
  // (0: not known, or it waits), and its times at that moment.
  struct {
    uint64_t since, cpu_ns;
    struct mprof_thread_switches switches;
  } runs;
};

// Stores in the header of an empty buffer the state of the thread that owns row
// r.
static inline void mprof_trace_fill_header(struct mprof_trace_buf *b,
                                           const struct mprof_trace_row *r) {
  b->row = r->id;
  b->ticks = r->ticks;
  b->g = r->g;
  b->seq = r->seq;
  b->start = r->start;
  b->tid = r->tid;
  b->labels = r->labels;
  b->waits = r->waits_in != 0 && r->open_ticks == 0;
}

// Returns whether the program reads the trace with mprof_trace_read. The result
// is true from the start of the session until the program has read the whole
// trace. This may be after the end of the session.
bool mprof_trace_is_read(void);

// Returns whether the trace is a flight recorder, which keeps only the newest
// part of the trace. The result is false if the program reads the trace with
// mprof_trace_read, because such a program gets all parts.
static inline bool mprof_trace_is_recorder(void) {
  return (mprof_flags.trace_last[0] != '\0' || mprof_flags.trace_last_mb != 0 ||
          mprof_flags.trace_slow_task != 0) &&
         !mprof_trace_is_read();
}

// Makes room for `bytes` bytes at the end of row r, with a new buffer if
// needed. Call this when no other thread can write to the row. Returns false if
// there is no memory.
bool mprof_trace_has_room(struct mprof_trace_row *r, uint32_t bytes);
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

// Returns the first row of the session's list of rows. During a session, rows
// are added to the list but never removed.
struct mprof_trace_row *mprof_trace_rows(void);
// Frees the rows of an ended session. Acquires trace_lock.
void mprof_trace_forget(struct mprof_trace_row *rows);

// --- begin and end of sessions; call with trace_lock held ---

// Prepares the list of rows for a new session. The list is empty after this
// call. keep_ns: the option trace_last.
void mprof_trace_begin_rows_locked(uint64_t keep_ns);
// Returns a row that no thread owns, or NULL if there is no memory.
struct mprof_trace_row *mprof_trace_new_row_locked(void);
// Gives row r, to which no thread writes any more, to the next thread that
// needs a row.
void mprof_trace_return_row_locked(struct mprof_trace_row *r);
// Adds the first records of the calling thread to row r, which must have room
// for two records. g: number of the thread in the trace. tid: kernel id of the
// thread. from: how the thread enters the trace. start: handle of the stack of
// the start function; 0: unknown.
void mprof_trace_put_begin(struct mprof_trace_row *r, uint64_t g, int tid,
                           enum mprof_trace_from from, uint32_t start);
// Removes all rows from the session and returns them.
struct mprof_trace_row *mprof_trace_take_rows_locked(void);
// Does the same as mprof_trace_forget. The caller holds trace_lock.
void mprof_trace_forget_locked(struct mprof_trace_row *list);
// Sets the result of mprof_trace_is_read.
void mprof_trace_set_read(bool is_read);
// Removes the parent's rows from the list of rows in a forked child.
void mprof_trace_rows_reset(void);

// The functions that take full buffers from the rows. trace_rows.c does not
// call these functions directly, because they and the writers of the file use
// trace_rows.c. mprof_trace_outlet_init sets these pointers.
extern MPROF_HIDDEN struct mprof_trace_outlet {
  bool (*make_room)(uint64_t until);
  uint64_t (*wait_until)(void);
  void (*news)(void); // wakes mprof_trace_read when a buffer is complete
} mprof_trace_outlet;

extern MPROF_HIDDEN struct mprof_lock mprof_trace_lock;

// --- records of trace_events.c ---

// Initializes trace_events.c when a session begins.
void mprof_trace_events_init(void);
// Records the end of the calling thread. r: the thread's row. Also stores a
// mark (a reference to a record of the end). By the mark, the trace links a
// later pthread_join of this thread to the end.
void mprof_trace_put_end(struct mprof_trace_row *r);
// Resets the state in a forked child. Does not free the memory of the list of
// existing threads.
void mprof_trace_events_reset(void);
// Sets the number of heap bytes in use when a session begins.
void mprof_trace_heap_init(int64_t bytes);
// Returns whether the calling thread runs, that is, whether its last wait in
// the trace has ended. r: the thread's row. Returns false in a signal handler
// that has interrupted a wait. If `frame` shows that a longjmp or an exception
// has left the wait, first records the end of the wait and then returns true.
// frame: frame address of the caller; now: time of the clock.
bool mprof_trace_runs(struct mprof_trace_row *r, uintptr_t frame, uint64_t now);

// --- records of trace_user.c, for the option trace_schedule ---

// Record that the thread of row r begins and ceases to run at the time `now` of
// the clock. The first may add no record. The second adds at most one record,
// and the trace must show the thread as running. The owner of the row calls
// both. At the end of the session, another thread may call the second.
void mprof_trace_schedule_begin(struct mprof_trace_row *r, uint64_t now);
void mprof_trace_schedule_end(struct mprof_trace_row *r, uint64_t now);

// --- threads that existed when the session began ---
//
// Call these functions with trace_lock held.

// Creates the list of existing threads. Adds a PRE record for each of them to
// row r, which belongs to the thread that starts the session. If a thread
// begins or ends during this call, the list may be wrong about the thread. The
// error does no harm, because the thread adds its own records. Returns 0 or
// -ENOMEM.
int mprof_trace_existing_put(struct mprof_trace_row *r);
// Removes thread tid from the list. Returns the state that the thread had when
// the session began, or MPROF_TRACE_FROM_UNKNOWN if the thread is not on the
// list. *g receives the number of the thread, and *start the handle of the
// stack of its start function.
enum mprof_trace_from mprof_trace_existing_find(int tid, uint64_t *g,
                                                uint32_t *start);
// Frees the list of existing threads at the end of the session.
void mprof_trace_existing_drop(void);

#endif // MPROF_RT_TRACE_TRACE_ROWS_H
