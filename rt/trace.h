// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The execution trace: what each thread does on one axis of time. A session
// begins with mprof_trace_start and ends with mprof_trace_stop; while it lasts
// the entries of locks and calls make records besides what they do for the
// profiles. (Go: runtime/trace.go)
//
// In the trace's terms a thread is a goroutine (G), with a number that is never
// used again, and what it runs on, a processor (P), is a row of the picture,
// its own until it ends and then another's. So nothing of the scheduler is
// needed, and a row has one writer.
//
// A record is made between enter and leave, with the guard set. The end of a
// session stores 0 as its number, has all processors see that, and waits for
// the threads that are between the two: from then on the rows are quiet.

#ifndef MPROF_RT_TRACE_H
#define MPROF_RT_TRACE_H

#include "contention.h"
#include "flags.h"
#include "snapshot.h"
#include "threads.h"
#include "trace_buf.h"

// What a record is, and its numbers. All but PRE begin with the ticks since the
// last one; stack is the handle of a bucket, 0 for none.
enum mprof_trace_type {
  MPROF_TRACE_NONE,
  // The thread that the row is of from now on: its number, its tid, enum
  // mprof_trace_from, and the stack of what it runs.
  MPROF_TRACE_BEGIN,
  MPROF_TRACE_END, // of that thread
  // Of the thread that starts the session: another that there was already. Its
  // number, enum mprof_trace_from, the stack of what it runs, and its tid. No
  // ticks.
  MPROF_TRACE_PRE,
  MPROF_TRACE_CREATE, // number, stack of what it will run, stack
  // Waits, until START: stack.
  MPROF_TRACE_BLOCK_SYNC,
  MPROF_TRACE_BLOCK_COND,
  MPROF_TRACE_BLOCK_NET,
  MPROF_TRACE_BLOCK_SELECT,
  MPROF_TRACE_SLEEP,
  // The end of a wait: by whom is in the waker's row, or nobody knows.
  MPROF_TRACE_START,
  // The same, of who could not sign there: its time is that of the release that
  // woke the thread, or that of the start. The stack of the release, or 0, and
  // the ticks from then to the start.
  MPROF_TRACE_START_SELF,
  // What a waker leaves room for: four zeros and more up to a multiple of 8,
  // then who was woken, eight bytes (trace_buf.h). Ticks and stack before them.
  MPROF_TRACE_WAKE,
  MPROF_TRACE_CALL,      // a short system call: stack
  MPROF_TRACE_CALL_LONG, // stack, ticks that it took
  MPROF_TRACE_CALL_OPEN, // one that has not ended: stack
  MPROF_TRACE_HEAP,      // bytes in use
  MPROF_TRACE_GC_START,  // which of the session, from 0; stack
  MPROF_TRACE_GC_DONE,
  MPROF_TRACE_TASK,     // number, parent's, handle of the name, stack
  MPROF_TRACE_TASK_END, // number, stack
  MPROF_TRACE_REGION,   // task, 0 start or 1 end, handle of the name, stack
  MPROF_TRACE_LOG,      // task, handle of the key, stack, length, then bytes
  MPROF_TRACE_LABELS,   // the thread's from now on: number of the set
};

// How a thread comes into the trace.
enum mprof_trace_from {
  MPROF_TRACE_FROM_CREATE,  // a record CREATE says it
  MPROF_TRACE_FROM_RUNNING, // it was there, and ran or was about to
  MPROF_TRACE_FROM_WAITING, // it was there, and waited
  MPROF_TRACE_FROM_CALL,    // it was there, in a system call
  MPROF_TRACE_FROM_UNKNOWN, // it came without being seen
  // Of the first part of a window only: it was there, and waits on.
  MPROF_TRACE_FROM_WAIT,
};

// Ticks of the trace. (Go: traceTickDiv)
#define MPROF_TRACE_TICK_DIV 64u

#define MPROF_TRACE_REGIONS 32u

// A row's thread after some of its records.
struct mprof_trace_thread {
  uint64_t g; // 0: none
  uint64_t tid, start;
  uint64_t seq, skipped; // its numbers so far, as a row counts them
  bool waits;
  uint16_t labels; // as far as the row has them
};

// How far a row has been written to the file; the writer's.
struct mprof_trace_written {
  struct mprof_trace_thread thread;
  uint64_t left; // ticks that no event had yet
  // Regions that have begun in the file and not ended, outermost first; those
  // that are deeper are not in it.
  uint32_t regions, deeper;
  struct {
    uint64_t task, name;
  } region[MPROF_TRACE_REGIONS];
  // 1 + the number of the collection that has begun in the file and not ended.
  uint64_t collection;
  bool is_first; // of the thread that began the session, so far unwritten
  // Of the format 1.23: the row's sequence number, and the thread's M.
  uint64_t row_seq, m;
};

// A row. Its thread writes it, between enter and leave; when all is quiet the
// session's end does.
struct mprof_trace_row {
  _Alignas(64) struct mprof_trace_row *next; // of all; guarded by trace_lock
  struct mprof_trace_row *next_unused;       // the same
  struct mprof_trace_buf *_Atomic first; // the oldest; the writer's from then
  struct mprof_trace_buf *last;          // that is being filled
  bool is_cut;    // buffers before the first are gone; as first
  uint64_t ticks; // of the last record
  uint64_t g;     // of the thread that it is of; 0: none, or it has ended
  uint32_t seq;   // that thread's, as the writer will count
  uint32_t id;    // from 0
  uint32_t start; // and what it runs
  int tid;
  char name[MPROF_THREAD_NAME]; // as far as the trace has it
  bool is_named;                // it has been asked for
  bool has_own_name;
  uint16_t labels;             // as far as the trace has them
  struct mprof_thread *thread; // the runtime's record
  // The thread may never leave the record that it is in: what it has stays.
  bool is_left;
  // Frame address of the entry whose wait is under way, 0: none. What is done
  // deeper on the stack is a signal handler's, and not in the trace, unless the
  // wait was left by a longjmp: then what is further out shows it, or that the
  // entry's frame is not there any more.
  uintptr_t waits_in;
  const struct mprof_wait *wait; // in that frame
  uint64_t waits_since;          // when it began, by which its end knows it
  // Such a wait that has no record yet; ticks 0: it has one.
  uint64_t open_ticks;
  uint32_t open_stack;
  enum mprof_trace_type open_type;
  // Of those in seq, how many the format 1.23 does not count: those of system
  // calls, and of a wait that there was already.
  uint32_t skipped;
  struct mprof_trace_written written;
};

// 0: none. All waits look at it, so its address is not looked up.
extern atomic_uint mprof_trace_session __attribute__((visibility("hidden")));
static inline bool mprof_trace_is_on(void) {
  return atomic_load_explicit(&mprof_trace_session, memory_order_relaxed) != 0;
}

// The calling thread's row with room for a record of so many bytes, or NULL:
// there is no session, or no memory, which ends it; a recorder does without
// threads that come when all of it is others'. Guard set.
struct mprof_trace_row *mprof_trace_enter(uint32_t bytes);
// Makes room in a row of the caller's own; false if there is no memory.
bool mprof_trace_has_room(struct mprof_trace_row *r, uint32_t bytes);
static inline void mprof_trace_leave(void) {
  atomic_store_explicit(&mprof_tls.self->in_trace, 0, memory_order_release);
}
// A time of the clock as the trace has it. 0 has a meaning of its own in the
// format.
static inline uint64_t mprof_trace_ticks(uint64_t now) {
  const uint64_t t = now / MPROF_TRACE_TICK_DIV;
  return t != 0 ? t : 1;
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

// --- trace_events.c: what the entries call, with the guard set ---

// When a session begins.
void mprof_trace_events_init(void);
// A wait begins; w keeps what its end needs.
void mprof_trace_wait_begin(struct mprof_wait *w, bool is_call);
// It ends: mark says who released last since it began. One that began before
// the session makes its thread come into it.
void mprof_trace_wait_end(const struct mprof_wait *w, enum mprof_outcome how,
                          uint64_t now, const struct mprof_trace_mark *mark);
// Before a release that somebody may wait for, who is found under a lock:
// enters the caller's row, and takes its stack. No row: the release is not in
// the trace; else it is to be left after.
struct mprof_trace_waker {
  struct mprof_trace_row *row;
  uint32_t stack;
};
void mprof_trace_release_begin(struct mprof_trace_waker *w, uintptr_t op,
                               uintptr_t frame);
// In between: somebody does wait; now is the time of the clock that it is
// charged for.
struct mprof_trace_mark mprof_trace_put_wake(const struct mprof_trace_waker *w,
                                             uint64_t now);
// The stack of a function that a thread runs, 0 for none.
uint32_t mprof_trace_start_of(uintptr_t fn);
// A thread is about to be created: its number, 0 if it has none, and in *start
// the stack of what it will run.
uint64_t mprof_trace_create(uintptr_t fn, uintptr_t frame, uint32_t *start);
// First in the new thread, which was created so in a session.
void mprof_trace_created(uint64_t g, uint32_t start, unsigned session);
// The thread ends.
void mprof_trace_thread_end(void);
// The records of that, with a mark for whoever joins it.
void mprof_trace_put_end(struct mprof_trace_row *r);
// In a forked child: no thread has ended.
void mprof_trace_ended_reset(void);

// A counted block of b was allocated or freed: its bytes, with those that it
// stands for, are so many more or fewer in use.
void mprof_trace_heap(const struct mprof_bucket *b, bool is_free);
// What is in use when a session begins.
void mprof_trace_heap_init(int64_t bytes);
// A collection begins or ends. Not while other threads are stopped.
void mprof_trace_gc(bool is_end);
// Whether the thread runs, as far as the trace knows, at a frame now; if that
// shows that a wait was left, this one is given up.
bool mprof_trace_runs(struct mprof_trace_row *r, uintptr_t frame, uint64_t now);

// --- trace_user.c ---

// Bytes of a message that are kept.
#define MPROF_TRACE_LOG_MAX 1024u
// The text of a record's name.
const char *mprof_trace_name_text(uint32_t handle);
// What the calling thread has done of late, as regions, while it could make no
// records: their begins and ends in order. Guard set.
struct mprof_trace_phase {
  const char *name;
  uint64_t when; // of the clock
  bool is_end;
};
void mprof_trace_phases(const struct mprof_trace_phase *v, size_t n);
// In a forked child.
void mprof_trace_names_reset(void);
// The name that a row's thread has now, as a message in the trace, unless that
// has it already. The thread runs; room for a record is there.
void mprof_trace_put_thread_name(struct mprof_trace_row *r, uint64_t now);
uint32_t mprof_trace_name_key(void); // of such messages
// The calling thread has other labels now: a message, too.
void mprof_trace_labels(uintptr_t frame);
// The same, first in its row.
void mprof_trace_put_labels(struct mprof_trace_row *r, uint64_t now);
uint32_t mprof_trace_labels_key(void);

// --- trace.c ---

// In a forked child: there is no session.
void mprof_trace_reset(void);
// At start, and in a forked child: begins the session of the option trace.
void mprof_trace_init(void);
// The session's rows, which only grow in number; and frees those of one that
// has ended.
struct mprof_trace_row *mprof_trace_rows(void);
void mprof_trace_forget(struct mprof_trace_row *rows);
// At the end of the process: whether a session has begun and was not stopped,
// and the path that it has of its own, or NULL. writer_lock and guard held.
bool mprof_trace_is_open(const char **own_path);
// The same at this moment, without either.
bool mprof_trace_has_session(void);
// What has been written.
struct mprof_trace_result {
  uint64_t events;
  int cut; // why the file lacks the oldest part, an errno value; 0: it does not
};
// Ends it and writes it, to path if it has none of its own, or if that is NULL
// where the options say. 0 or an errno value. The same held.
int mprof_trace_finish_session(const char *path,
                               struct mprof_trace_result *result);

// --- trace_pre.c; all with trace_lock held ---

// Puts the threads that are there into the first row, with what each is doing.
// One that comes or goes meanwhile is seen by itself. 0 or ENOMEM.
int mprof_trace_pre_put(struct mprof_trace_row *r);
// What a thread that comes now was doing then, with its number and what it
// runs; UNKNOWN the second time, or if it was not there.
enum mprof_trace_from mprof_trace_pre_find(int tid, uint64_t *g,
                                           uint32_t *start);
// At the session's end; and in a forked child, which leaves the memory.
void mprof_trace_pre_drop(void);
void mprof_trace_pre_reset(void);

// --- trace_out.c ---

// Whether there is a trace that the program takes by mprof_trace_read, which
// lasts until it has taken all. The others belong to its session.
bool mprof_trace_is_read(void);
// Whether the options ask for the newest part only. Who reads takes all.
static inline bool mprof_trace_is_recorder(void) {
  return (mprof_flags.trace_last[0] != '\0' ||
          mprof_flags.trace_last_mb != 0) &&
         !mprof_trace_is_read();
}
// A session begins, for a path or, if that is NULL, for a descriptor; neither:
// for the path that its end gives.
void mprof_trace_write_begin(const char *path, int fd);
const char *mprof_trace_own_path(void);
// What "10s" is, 0 if it is nothing.
uint64_t mprof_trace_last_ns(const char *s);
// Makes room by writing some of the oldest buffers, or a recorder by dropping
// them, unless another thread does; waits for that one, and for the reader of a
// descriptor, if until is not 0: for a reader until then at most, in ticks of
// the clock. True: there may be room, or is worth another call; false if there
// is none to be made. Between enter and leave.
bool mprof_trace_make_room(struct mprof_trace_row *rows, uint64_t until);
// How long a thread may wait that begins to wait now.
uint64_t mprof_trace_wait_until(void);
// Writes the rest when all is quiet. 0 or the first errno value.
int mprof_trace_write_end(struct mprof_trace_row *rows, const char *path,
                          struct mprof_trace_result *result);
// Opens the file of a snapshot. 0 or an errno value.
int mprof_trace_write_open(const char *path);
// The same of a recorder's rows that are no session's any more.
int mprof_trace_write_snapshot(struct mprof_trace_row *rows, const char *path,
                               struct mprof_trace_result *result);
// Frees a row's first buffer.
void mprof_trace_take_first(struct mprof_trace_row *r);
// In a forked child.
void mprof_trace_write_reset(void);

// --- trace_reader.c ---

void mprof_trace_reader_begin(void); // see mprof_trace_is_read
void mprof_trace_reader_news(void);  // a buffer is complete
void mprof_trace_reader_end(struct mprof_trace_row *rows);
// In a forked child.
void mprof_trace_reader_reset(void);

extern struct mprof_lock mprof_trace_lock;

#endif // MPROF_RT_TRACE_H
