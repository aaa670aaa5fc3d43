// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the records of waits, releases, threads and the heap to the trace. The
// entries of locks and calls decide which events are recorded.
//
// The record of a wait for a lock is added when the wait begins. The record of
// a call is added when the call ends, because it is not known earlier whether
// the call is short.
//
// A thread that releases a lock does not know which thread it wakes. Therefore
// the releasing thread adds a WAKE record with an empty woken field to its own
// row. It also leaves a mark, which refers to the field, in the table of
// waiters. The thread that gets the lock finds the mark, and writes its own
// number into the field:
//
//   releaser's row:  ... WAKE [woken] ...       mprof_trace_put_wake
//                               ^
//                               | number of the woken thread
//   waiter's row:    ... BLOCK  +  START ...    mprof_trace_wait_end

#include "trace/trace_events.h"

#include "bucket/bucket.h"
#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "options/flags.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/scale.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "trace/trace.h"
#include "trace/trace_buf.h"
#include "trace/trace_records.h"
#include "trace/trace_rows.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

// Time in nanoseconds. The trace shows a thread as running during a call that
// is shorter than this time. (Go also shows a goroutine as running during a
// call that is so short that Go's monitor thread does not see the call.)
#define SHORT_CALL_NS 20000u
// SHORT_CALL_NS in clock ticks. Converted once, when the session begins,
// because a conversion at each call would take longer than all other work at
// the call.
static _Atomic uint64_t short_call;

void mprof_trace_events_init(void) {
  atomic_store(&short_call, mprof_clock_ticks(SHORT_CALL_NS));
}

// Type of the record for each kind of wait. A kind that is not listed is a wait
// for another thread, and its type is BLOCK_SYNC.
static const unsigned char types[MPROF_KIND_COUNT] = {
    [MPROF_KIND_cond] = MPROF_TRACE_BLOCK_COND,
    [MPROF_KIND_join] = MPROF_TRACE_BLOCK_COND,
    [MPROF_KIND_future] = MPROF_TRACE_BLOCK_COND,
    [MPROF_KIND_net] = MPROF_TRACE_BLOCK_NET,
    [MPROF_KIND_dns] = MPROF_TRACE_BLOCK_NET,
    [MPROF_KIND_poll] = MPROF_TRACE_BLOCK_SELECT,
    [MPROF_KIND_sleep] = MPROF_TRACE_SLEEP,
    [MPROF_KIND_io] = MPROF_TRACE_CALL_OPEN,
    [MPROF_KIND_child] = MPROF_TRACE_CALL_OPEN,
    [MPROF_KIND_fsync] = MPROF_TRACE_CALL_OPEN,
    [MPROF_KIND_ipc] = MPROF_TRACE_CALL_OPEN,
    [MPROF_KIND_uring] = MPROF_TRACE_CALL_OPEN,
    [MPROF_KIND_call] = MPROF_TRACE_CALL_OPEN};

static enum mprof_trace_type type_of(enum mprof_kind kind) {
  return types[kind] != 0 ? (enum mprof_trace_type)types[kind]
                          : MPROF_TRACE_BLOCK_SYNC;
}

static void put_block(struct mprof_trace_row *r, enum mprof_trace_type type,
                      uint64_t start, uint32_t stack) {
  unsigned char *p = mprof_trace_begin(r, type, start);
  mprof_trace_finish(r, mprof_trace_put(p, stack));
}

// Records the end of a wait. The time and the stack of the wake-up are in a
// record of the waking thread.
static void put_start(struct mprof_trace_row *r, uint64_t now) {
  mprof_trace_finish(r, mprof_trace_begin(r, MPROF_TRACE_START, now));
  r->seq += 2; // one number for the wake-up, one for the start
}

// Records the end of a wait together with the wake-up. Used if no WAKE record
// of another thread contains the number of this thread. woken, stack: time and
// stack of the wake-up; now: time when the wait ended.
static void put_start_self(struct mprof_trace_row *r, uint64_t woken,
                           uint64_t now, uint32_t stack) {
  unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_START_SELF, woken);
  const uint64_t start = mprof_trace_ticks(now);
  const uint64_t ticks = start > r->ticks ? start - r->ticks : 0;
  p = mprof_trace_put(p, stack);
  mprof_trace_finish(r, mprof_trace_put(p, ticks));
  r->ticks += ticks;
  r->seq += 2;
}

// Records the end of a wait whose waking thread is unknown.
static void put_start_alone(struct mprof_trace_row *r, uint64_t now) {
  put_start_self(r, now, now, 0);
}

// If the thread of row r is in a wait, records the end of the wait. Call this
// when a longjmp or an exception has left the wait.
static void wait_left(struct mprof_trace_row *r, uint64_t now) {
  if (mprof_likely(r->waits_in == 0))
    return;
  if (r->open_ticks == 0)
    put_start_alone(r, now);
  r->open_ticks = 0;
  r->waits_in = 0;
}

// Returns whether the data of the thread's present wait (*r->wait) still exist
// in the frame of the runtime's function that waits. Reads only the stack of
// the thread itself, because another stack may be unmapped. If the data are on
// another stack, returns true. After a longjmp, the old data may survive until
// a later frame overwrites them. In that case, the recorded wait is longer than
// the real wait.
static bool is_still_there(const struct mprof_trace_row *r) {
  const struct mprof_stack_range *own = &mprof_tls.self->range;
  const uintptr_t at = (uintptr_t)r->wait;
  if (at < own->lo || at + sizeof(*r->wait) > own->hi)
    return true;
  return r->wait->start == r->waits_since && r->wait->frame == r->waits_in;
}

bool mprof_trace_runs(struct mprof_trace_row *r, uintptr_t frame,
                      uint64_t now) {
  if (r->waits_in != 0 && frame < r->waits_in && is_still_there(r))
    return false;
  wait_left(r, now);
  return true;
}

static void put_lock(struct mprof_trace_row *r, uint64_t now,
                     uintptr_t address) {
  unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_LOCK, now);
  mprof_trace_finish(r, mprof_trace_put(p, address));
}

void mprof_trace_wait_begin(struct mprof_wait *w, bool is_call,
                            const char *name) {
  w->trace_stack = mprof_trace_stack(w->op, w->frame);
  const size_t len = name ? strlen(name) : 0;
  struct mprof_trace_row *r =
      mprof_trace_enter(6 * MPROF_TRACE_RECORD_MAX + (uint32_t)len);
  if (!r)
    return;
  if (!mprof_trace_runs(r, w->frame, w->start)) {
    mprof_trace_leave();
    return;
  }
  if (mprof_unlikely(!r->is_named))
    mprof_trace_put_thread_name(r, w->start);
  mprof_trace_schedule_end(r, w->start);
  w->trace_session = mprof_tls.trace_session;
  r->waits_in = w->frame;
  r->wait = w;
  r->waits_since = w->start;
  const enum mprof_trace_type type = type_of(w->kind);
  if (is_call) {
    r->open_stack = w->trace_stack;
    r->open_type = type;
    r->open_ticks = w->start / MPROF_TRACE_TICK_DIV + 1;
  } else {
    if (w->object != 0)
      put_lock(r, w->start, w->object);
    if (mprof_unlikely(name != NULL))
      mprof_trace_put_lock_name(r, w->start, name, len);
    put_block(r, type, w->start, w->trace_stack);
  }
  mprof_tls.trace_buf = r->last;
  mprof_tls.trace_end = r->last->data + r->last->len;
  mprof_trace_leave();
}

// With thousands of threads, other threads have used the cache since the wait
// began. One after the other, the loads from memory would take longer than the
// rest of the record. The thread probably waits at the same place again, so the
// entries of its stack in the thread's cache of stacks are fetched, too.
void mprof_trace_wait_fetch(const struct mprof_wait *w) {
  const char *const row = (const char *)mprof_tls.trace_row;
  __builtin_prefetch(row, 1);
  __builtin_prefetch(row + 64, 1);
  __builtin_prefetch(row + 128, 1);
  __builtin_prefetch(mprof_tls.trace_buf, 1);
  __builtin_prefetch(mprof_tls.trace_end, 1);
  // The frame of a wait of a marked function may no longer exist.
  if (w->kind != MPROF_KIND_user)
    mprof_bucket_fetch(MPROF_BUCKET_TRACE, w->op + 1, w->frame, w->trace_stack);
}

// m refers to the WAKE record of a release. Returns whether this release can
// have ended the present wait of r's thread: the release was recorded in this
// session, and not before the last record of r, which is the begin of the wait.
// The time counters of processors may differ a little, so the function may
// return false for a release that did end the wait. The thread itself may have
// released the object and then begun to wait in the same tick.
static bool is_of_wait(const struct mprof_trace_mark *m,
                       const struct mprof_trace_row *r) {
  return m->buf != NULL && m->session == mprof_tls.trace_session &&
         m->ticks >= r->ticks && m->buf->row != r->id;
}

static void end_block(struct mprof_trace_row *r, enum mprof_outcome how,
                      uint64_t now, const struct mprof_trace_mark *m) {
  const uint64_t woken = m->ticks * MPROF_TRACE_TICK_DIV;
  if (how != MPROF_GOT || !is_of_wait(m, r))
    put_start_alone(r, now);
  else if (mprof_trace_mark_claim(m, r->g, r->seq + 1))
    put_start(r, now > woken ? now : woken);
  else // the field has another number, or its buffer is already in the file
    put_start_self(r, woken, now, m->stack);
}

// Table of marks (references to WAKE records) that link the end of a thread to
// the pthread_join of that thread. Each element is for the threads with one
// hash value, and has the mark of the thread that ended last. The table of
// waiters (waiters.c) is not used for these marks, because the end of a thread
// is no release of a lock. Guarded by ended_lock.
static struct {
  uintptr_t thread; // pthread_t of the thread
  struct mprof_trace_mark mark;
} last_ended[256];
static struct mprof_lock ended_lock = MPROF_LOCK_INIT(MPROF_RANK_ENDED);

static size_t ended_slot(uintptr_t thread) {
  const uint64_t h = thread * 0x9e3779b97f4a7c15u;
  return h >> 56;
}

// Returns the reference to the WAKE record that `thread` added when it ended.
// The result is empty if another thread with the same hash value has ended
// since.
static struct mprof_trace_mark end_of(uintptr_t thread) {
  struct mprof_trace_mark mark = {.buf = NULL};
  const size_t i = ended_slot(thread);
  mprof_lock_acquire(&ended_lock);
  if (last_ended[i].thread == thread)
    mark = last_ended[i].mark;
  mprof_lock_release(&ended_lock);
  return mark;
}

// Adds the record of call w, which has ended. The record shows a short call, a
// long system call, or a wait.
static void end_call(struct mprof_trace_row *r, const struct mprof_wait *w,
                     enum mprof_outcome how, uint64_t now) {
  const struct mprof_trace_mark mark =
      w->kind == MPROF_KIND_join ? end_of(w->joins)
                                 : (struct mprof_trace_mark){.buf = 0};
  const enum mprof_trace_type type = type_of(w->kind);
  const uint64_t took = now > w->start ? now - w->start : 0;
  r->open_ticks = 0;
  if (how == MPROF_NO_WAIT ||
      took < atomic_load_explicit(&short_call, memory_order_relaxed)) {
    put_block(r, MPROF_TRACE_CALL, w->start, w->trace_stack);
  } else if (type == MPROF_TRACE_CALL_OPEN) {
    unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_CALL_LONG, w->start);
    // The duration counts from the time of the call's record. This time is
    // later than the start of the call if another record was added during the
    // call.
    const uint64_t end = now / MPROF_TRACE_TICK_DIV;
    const uint64_t ticks = end > r->ticks ? end - r->ticks : 0;
    p = mprof_trace_put(p, w->trace_stack);
    p = mprof_trace_put(p, ticks);
    r->ticks += ticks;
    mprof_trace_finish(r, p);
  } else {
    put_block(r, type, w->start, w->trace_stack);
    end_block(r, how, now, &mark);
  }
}

void mprof_trace_wait_end(const struct mprof_wait *w, unsigned how,
                          uint64_t now, const struct mprof_trace_mark *mark) {
  struct mprof_trace_row *r = mprof_trace_enter(2 * MPROF_TRACE_RECORD_MAX);
  if (!r)
    return;
  if (w->trace_session == mprof_tls.trace_session && r->waits_in != 0 &&
      r->waits_since == w->start) {
    r->waits_in = 0;
    if (r->open_ticks != 0)
      end_call(r, w, how, now);
    else
      end_block(r, how, now, mark);
    mprof_trace_schedule_begin(r, now);
  }
  mprof_trace_leave();
}

// Records the charge of a release (the time that threads have waited for the
// lock). The charge becomes a message in the file, and readers reject a message
// of a thread that waits. So this function adds no record in a signal handler
// that has interrupted a wait.
static void put_charge(const struct mprof_trace_waker *w, uint64_t now,
                       uintptr_t lock, uint64_t charge) {
  struct mprof_trace_row *r = w->row;
  if (!mprof_trace_runs(r, w->frame, now))
    return;
  put_lock(r, now, lock);
  unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_CHARGE, now);
  p = mprof_trace_put(p, w->stack);
  mprof_trace_finish(r, mprof_trace_put(p, charge));
}

struct mprof_trace_mark mprof_trace_put_wake(const struct mprof_trace_waker *w,
                                             uint64_t now, uintptr_t lock,
                                             uint64_t charge) {
  struct mprof_trace_row *r = w->row;
  if (charge != 0)
    put_charge(w, now, lock, charge);
  unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_WAKE, now);
  p = mprof_trace_put(p, w->stack);
  unsigned char *const field = mprof_trace_woken_field(p);
  // Clears the field, and the longest possible padding before it.
  memset(p, 0, 2 * sizeof(uint64_t));
  struct mprof_trace_buf *b = r->last;
  mprof_trace_finish(r, field + sizeof(uint64_t));
  return (struct mprof_trace_mark){
      .buf = b,
      .generation = atomic_load_explicit(&b->generation, memory_order_relaxed),
      .offset = (uint32_t)(field - b->data),
      .session = mprof_tls.trace_session,
      .stack = w->stack,
      .ticks = r->ticks};
}

void mprof_trace_release_begin(struct mprof_trace_waker *w, uintptr_t op,
                               uintptr_t frame) {
  w->stack = mprof_trace_stack(op, frame);
  w->frame = frame;
  w->row = mprof_trace_enter(4 * MPROF_TRACE_RECORD_MAX);
}

// --- threads ---

// The end of a thread also gets a WAKE record, for the thread that joins the
// ending thread. The stack of the WAKE record is the ending thread's start
// function, because an ending thread has no other frames left.
void mprof_trace_put_end(struct mprof_trace_row *r) {
  const uint64_t now = mprof_clock_now();
  const uintptr_t self = (uintptr_t)pthread_self();
  const size_t i = ended_slot(self);
  wait_left(r, now);
  mprof_trace_put_thread_name(r, now);
  mprof_trace_schedule_end(r, now);
  const struct mprof_trace_mark mark = mprof_trace_put_wake(
      &(struct mprof_trace_waker){.row = r, .stack = r->start}, now, 0, 0);
  mprof_trace_finish(r, mprof_trace_begin(r, MPROF_TRACE_END, now));
  mprof_lock_acquire(&ended_lock);
  last_ended[i].thread = self;
  last_ended[i].mark = mark;
  mprof_lock_release(&ended_lock);
}

// Returns the handle of a start stack: runs->passed, if it is not 0, and
// runs->start. Returns 0 if runs->start is 0 or if there is no memory.
static uint32_t start_of(const struct mprof_thread_runs *runs) {
  if (runs->start == 0)
    return 0;
  const bool has_two = runs->passed != 0;
  const mprof_pc stack[] = {runs->passed + 1, runs->start + 1};
  const struct mprof_bucket_key key = {.type = MPROF_BUCKET_TRACE,
                                       .stack = has_two ? stack : stack + 1,
                                       .stack_len = has_two ? 2 : 1,
                                       .size = MPROF_TRACE_IS_START};
  return mprof_persistent_handle(mprof_bucket_get(&key, true));
}

uint64_t mprof_trace_create(const struct mprof_thread_runs *runs,
                            uintptr_t frame, uint32_t *start) {
  const uint32_t stack = mprof_trace_stack(0, frame);
  *start = runs->start != 0 ? start_of(runs) : stack;
  struct mprof_trace_row *r = mprof_trace_enter(MPROF_TRACE_RECORD_MAX);
  if (!r)
    return 0;
  const uint64_t g = mprof_trace_new_g();
  unsigned char *p =
      mprof_trace_begin(r, MPROF_TRACE_CREATE, mprof_clock_now());
  p = mprof_trace_put(p, g);
  p = mprof_trace_put(p, *start);
  mprof_trace_finish(r, mprof_trace_put(p, stack));
  mprof_trace_leave();
  return g;
}

// --- the heap ---

// Number of heap bytes in use, as estimated by the heap profile. The number is
// exact if the sampling rate is 1.
static struct {
  _Atomic int64_t bytes;
  _Atomic int64_t shown; // value of `bytes` in the last record
  _Atomic uint64_t collections;
  // Number of the trace session in which the current garbage collection began.
  // Only the collecting thread uses this field.
  unsigned gc_session;
} heap;

void mprof_trace_heap_init(int64_t bytes) {
  atomic_store(&heap.bytes, bytes);
  atomic_store(&heap.shown, INT64_MIN / 2); // so the next event adds a record
  atomic_store(&heap.collections, 0);
}

void mprof_trace_heap(const struct mprof_bucket *b, bool is_free) {
  const int64_t step = (int64_t)mprof_flags.trace_heap_kb << 10;
  if (step == 0)
    return;
  const int64_t bytes =
      mprof_scale_up(b->size, 1, mprof_scale_factor(b->size, b->rate));
  const int64_t n = is_free ? -bytes : bytes;
  const int64_t now =
      atomic_fetch_add_explicit(&heap.bytes, n, memory_order_relaxed) + n;
  // No record is added while the caller holds a lock, for example to free a
  // whole arena, because adding a record may require another lock.
  if (mprof_tls.held != 0)
    return;
  int64_t shown = atomic_load_explicit(&heap.shown, memory_order_relaxed);
  if ((now < shown + step && now > shown - step) ||
      !atomic_compare_exchange_strong(&heap.shown, &shown, now))
    return;
  struct mprof_trace_row *r = mprof_trace_enter(MPROF_TRACE_RECORD_MAX);
  if (!r)
    return;
  unsigned char *p =
      mprof_trace_begin(r, MPROF_TRACE_HEAP, mprof_clock_about());
  mprof_trace_finish(r, mprof_trace_put(p, now > 0 ? (uint64_t)now : 0));
  mprof_trace_leave();
}

void mprof_trace_gc(bool is_end) {
  const uint32_t stack = 0;
  struct mprof_trace_row *r = mprof_trace_enter(MPROF_TRACE_RECORD_MAX);
  if (!r)
    return;
  if (is_end && heap.gc_session != mprof_tls.trace_session) {
    mprof_trace_leave();
    return;
  }
  unsigned char *p =
      mprof_trace_begin(r, is_end ? MPROF_TRACE_GC_DONE : MPROF_TRACE_GC_START,
                        mprof_clock_now());
  if (!is_end) {
    heap.gc_session = mprof_tls.trace_session;
    p = mprof_trace_put(p, atomic_fetch_add(&heap.collections, 1));
    p = mprof_trace_put(p, stack);
  }
  mprof_trace_finish(r, p);
  mprof_trace_leave();
}

// --- threads that existed when the session began ---
//
// They are listed with their state at that time: running, waiting, or in a
// system call. A thread is removed from the list when it adds its first record.

struct before {
  int tid; // 0: the place is free
  // Handle of the stack of the start function. If the start function is
  // unknown, handle of the stack of the call that created the thread.
  uint32_t start;
  uint64_t g;
  uint8_t from; // enum mprof_trace_from; UNKNOWN: no longer on the list
};

// The list of threads, as a hash table: each thread looks for itself while it
// holds trace_lock, so this must not take longer if there are many threads.
// Guarded by trace_lock.
static struct {
  struct before *v;
  size_t places; // number of elements of v, a power of 2; more than threads
} pre;

// Returns the place of thread tid in the table, or the free place for it.
static struct before *place_of(int tid) {
  size_t i = (size_t)tid * 0x9e3779b97f4a7c15u >> 32;
  while (pre.v[i & (pre.places - 1)].tid != 0 &&
         pre.v[i & (pre.places - 1)].tid != tid)
    i++;
  return &pre.v[i & (pre.places - 1)];
}

// Returns whether the trace shows a thread in the system call `number` as being
// in a system call. A thread in any other system call is shown as waiting.
static bool is_call(long number) {
  static const short calls[] = {
      SYS_read,       SYS_readv,           SYS_pread64,     SYS_write,
      SYS_writev,     SYS_pwrite64,        SYS_wait4,       SYS_waitid,
      SYS_fsync,      SYS_fdatasync,       SYS_msync,       SYS_flock,
      SYS_fcntl,      SYS_openat,          SYS_ioctl,       SYS_splice,
      SYS_sendfile,   SYS_msgrcv,          SYS_msgsnd,      SYS_semop,
      SYS_semtimedop, SYS_mq_timedreceive, SYS_mq_timedsend};
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
    if (calls[i] == number)
      return true;
  return false;
}

// Returns the state of thread tid as reported by the kernel. A sleeping thread
// is in a system call, but some kernels do not reveal the number of the call.
// In that case, the result is MPROF_TRACE_FROM_WAITING.
static enum mprof_trace_from look_at(int tid) {
  struct mprof_proc_thread p;
  if (!mprof_proc_thread(tid, &p) || (p.state != 'S' && p.state != 'D'))
    return MPROF_TRACE_FROM_RUNNING;
  return is_call(p.syscall) ? MPROF_TRACE_FROM_CALL : MPROF_TRACE_FROM_WAITING;
}

static void put_locked(struct mprof_trace_row *r,
                       const struct mprof_thread_info *info) {
  if (info->tid == mprof_sys_gettid() ||
      !mprof_trace_has_room(r, MPROF_TRACE_RECORD_MAX))
    return;
  struct before *p = place_of(info->tid);
  *p = (struct before){.tid = info->tid,
                       .g = mprof_trace_new_g(),
                       .start = info->runs.start != 0
                                    ? start_of(&info->runs)
                                    : mprof_persistent_handle(info->created),
                       .from = (uint8_t)look_at(info->tid)};
  unsigned char *at = r->last->data + r->last->len;
  *at++ = MPROF_TRACE_PRE;
  at = mprof_trace_put(at, p->g);
  at = mprof_trace_put(at, p->from);
  at = mprof_trace_put(at, p->start);
  at = mprof_trace_put(at, (uint64_t)p->tid);
  mprof_trace_finish(r, at);
}

int mprof_trace_existing_put(struct mprof_trace_row *r) {
  const size_t n = mprof_threads_list(NULL, 0) + 64;
  const size_t bytes = n * sizeof(struct mprof_thread_info);
  struct mprof_thread_info *v = mprof_os_map(bytes);
  for (pre.places = 1; pre.places < 2 * n;)
    pre.places *= 2;
  pre.v = mprof_os_map(pre.places * sizeof(*pre.v));
  const bool has_memory = v && pre.v;
  const size_t found = has_memory ? mprof_threads_list(v, n) : 0;
  for (size_t i = 0; i < found && i < n; i++)
    put_locked(r, &v[i]);
  if (v)
    mprof_os_unmap(v, bytes);
  return has_memory ? 0 : -ENOMEM;
}

enum mprof_trace_from mprof_trace_existing_find(int tid, uint64_t *g,
                                                uint32_t *start) {
  struct before *p = pre.v ? place_of(tid) : NULL;
  if (!p || p->tid != tid || p->from == MPROF_TRACE_FROM_UNKNOWN)
    return MPROF_TRACE_FROM_UNKNOWN;
  const enum mprof_trace_from from = p->from;
  *g = p->g;
  *start = p->start;
  p->from = MPROF_TRACE_FROM_UNKNOWN;
  return from;
}

void mprof_trace_existing_drop(void) {
  if (pre.v)
    mprof_os_unmap(pre.v, pre.places * sizeof(*pre.v));
  pre.v = NULL;
}

void mprof_trace_events_reset(void) {
  mprof_lock_reset(&ended_lock);
  pre.v = NULL;
}
