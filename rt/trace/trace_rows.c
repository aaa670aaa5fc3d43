// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assigns the rows of a session to threads. A thread joins the session with its
// first record: it gets a row, and adds the record BEGIN. When the last buffer
// of a row is full, the functions of mprof_trace_outlet make room for a new
// buffer. See trace.h.

#include "trace/trace_rows.h"

#include "bucket/bucket.h"
#include "lock_wait/contention.h"
#include "options/flags.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "trace/trace.h"
#include "trace/trace_buf.h"
#include "trace/trace_events.h"
#include "trace/trace_records.h"

#include <string.h>
#include <unistd.h>

struct mprof_trace_outlet mprof_trace_outlet;
struct mprof_lock mprof_trace_lock = MPROF_LOCK_INIT(MPROF_RANK_TRACE);

static struct {
  struct mprof_trace_row *_Atomic all; // list of all rows of this session
  struct mprof_trace_row *unused;      // list of rows whose threads have ended
  struct mprof_trace_row *spare;       // rows of earlier sessions, for reuse
  _Atomic uint32_t len;                // number of rows; read without the lock
  uint64_t ticks;                      // time when the session began
  char name[MPROF_THREAD_NAME];        // program's name when the session began
  uint64_t keep_ns; // the option trace_last, for the file of persist
  // Whether the program reads the trace with mprof_trace_read. This field is
  // read without the lock.
  atomic_bool is_read;
} rows; // guarded by trace_lock

bool mprof_trace_is_read(void) { return atomic_load(&rows.is_read); }

void mprof_trace_set_read(bool is_read) {
  atomic_store(&rows.is_read, is_read);
}

// The thread number (g) that was given out last in this process.
static _Atomic uint64_t last_g;

// --- the file of the option persist ---
//
// The file leads to the rows of the trace, so that mprof recover writes the
// trace of a killed process. The rows and their buffers are in persistent
// memory, which the file consists of. If the file could not grow, a row or a
// buffer may be outside of the file. mprof recover then finds no complete trace
// and says so.

static uint64_t get(enum mprof_persist_root root) {
  return __atomic_load_n(&mprof_persist_head->roots[root], __ATOMIC_RELAXED);
}

static void set(enum mprof_persist_root root, uint64_t address) {
  __atomic_store_n(&mprof_persist_head->roots[root], address, __ATOMIC_RELEASE);
}

// The file may be made by the allocation of the first row, so a session cannot
// fill the head before.
static void fill_head(struct mprof_persist_head *h) {
  h->row_size = sizeof(struct mprof_trace_row);
  h->buffer_size = sizeof(struct mprof_trace_buf);
  h->trace_keep_ns = rows.keep_ns;
  h->processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
  __atomic_store_n(&h->ticks_per_second, mprof_clock_ticks_per_second(),
                   __ATOMIC_RELAXED);
}

// Makes the file lead to the rows of the session, of which `newest` is the
// newest. With the first row, also notes what the writer of the trace needs to
// know.
static void persist_rows(const struct mprof_trace_row *newest) {
  if (mprof_persist_head == NULL)
    return;
  if (newest->id == 0)
    fill_head(mprof_persist_head);
  set(MPROF_PERSIST_TRACE, (uintptr_t)newest);
}

// Records that the rows belong to an ended session whose file is not written
// yet.
static void persist_end(void) {
  if (mprof_persist_head == NULL)
    return;
  set(MPROF_PERSIST_ENDED_TRACE, get(MPROF_PERSIST_TRACE));
  set(MPROF_PERSIST_TRACE, 0);
}

// Called before the rows of an ended session or their buffers are used again.
static void persist_forget(const struct mprof_trace_row *list) {
  if (mprof_persist_head != NULL &&
      get(MPROF_PERSIST_ENDED_TRACE) == (uintptr_t)list)
    set(MPROF_PERSIST_ENDED_TRACE, 0);
}

// --- records ---

static bool are_many(void) { return mprof_trace_buf_are_many(rows.len); }

static struct mprof_trace_buf *new_buf(void) {
  struct mprof_trace_buf *b = mprof_trace_buf_new(are_many());
  const uint64_t until = b ? 0 : mprof_trace_outlet.wait_until();
  for (bool may_go_on = true; !b && may_go_on;) {
    may_go_on = mprof_trace_outlet.make_room(until);
    // Tries again even if make_room has failed, because another thread may have
    // made room.
    b = mprof_trace_buf_new(are_many());
  }
  return b;
}

static void link_last(struct mprof_trace_row *r, struct mprof_trace_buf *b) {
  struct mprof_trace_buf *complete = r->last;
  if (complete)
    atomic_store_explicit(&complete->next, b, memory_order_release);
  else
    r->first = b;
  r->last = b;
  if (complete)
    mprof_trace_buf_completed(complete, r);
}

// Fills the header of an empty buffer, and then marks the buffer as ready.
static void fill_header(struct mprof_trace_buf *b,
                        const struct mprof_trace_row *r) {
  mprof_trace_fill_header(b, r);
  atomic_signal_fence(memory_order_release);
  b->is_ready = true;
}

// Adds an empty buffer to row r. The header of the buffer receives the current
// state of the thread that owns the row. Returns false if there is no memory.
static MPROF_NOINLINE bool add_buf(struct mprof_trace_row *r) {
  struct mprof_trace_buf *b = new_buf();
  bool is_new = b != NULL;
  if (!is_new && mprof_trace_is_recorder() && r->last && r->first == r->last) {
    // No buffer could be dropped, because each row has only one buffer.
    // Therefore this thread empties the only buffer of its row and fills it
    // again.
    b = r->last;
    r->is_cut = true;
    mprof_trace_buf_empty(b);
  }
  if (!b)
    return false;
  fill_header(b, r);
  if (is_new)
    link_last(r, b);
  if (mprof_trace_is_read())
    mprof_trace_outlet.news();
  // Writes some buffers to the file if more than half of the memory limit is in
  // use. A flight recorder writes no buffers here, because it keeps as many
  // records as fit into memory.
  if (!mprof_trace_is_recorder() &&
      mprof_trace_buf_used() > mprof_trace_buf_limit() / 2)
    mprof_trace_outlet.make_room(0);
  return true;
}

// Inlined for speed, because nearly every record fits into the last buffer of
// the row.
__attribute__((always_inline)) static inline bool
has_room(struct mprof_trace_row *r, uint32_t bytes) {
  return (mprof_likely(r->last != NULL) &&
          mprof_likely(r->last->len + bytes <= r->last->size)) ||
         add_buf(r);
}

bool mprof_trace_has_room(struct mprof_trace_row *r, uint32_t bytes) {
  return has_room(r, bytes);
}

struct mprof_trace_row *mprof_trace_new_row_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE));
  struct mprof_trace_row *r = rows.unused;
  if (r) {
    rows.unused = r->next_unused;
    return r;
  }
  r = rows.spare;
  if (r)
    rows.spare = r->next;
  else
    r = mprof_persistent_try_alloc(sizeof(*r));
  if (!r)
    return NULL;
  const uint32_t id = rows.len++;
  *r = (struct mprof_trace_row){.next = atomic_load(&rows.all),
                                .id = id,
                                .ticks = rows.ticks,
                                .written.is_first = id == 0};
  atomic_store(&rows.all, r);
  persist_rows(r);
  return r;
}

// start is 0 if the runtime has not seen the creation of the thread. In that
// case, the file shows "main" or "thread" as the start function, and only the
// thread's name distinguishes it from other threads.
void mprof_trace_put_begin(struct mprof_trace_row *r, uint64_t g, int tid,
                           enum mprof_trace_from from, uint32_t start) {
  unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_BEGIN, mprof_clock_now());
  p = mprof_trace_put(p, g);
  p = mprof_trace_put(p, (uint64_t)tid);
  p = mprof_trace_put(p, from);
  mprof_trace_finish(r, mprof_trace_put(p, start));
  r->g = g;
  r->start = start;
  r->tid = tid;
  r->thread = mprof_tls.self;
  r->is_named = r->has_own_name = false;
  r->labels = 0;
  strcpy(r->name, rows.name);
  r->waits_in = 0;
  r->open_ticks = 0;
  r->seq = from == MPROF_TRACE_FROM_WAITING ? 2 : 1;
  memset(&r->runs, 0, sizeof(r->runs));
  if (mprof_tls.labels != 0)
    mprof_trace_put_labels(r, r->ticks * MPROF_TRACE_TICK_DIV);
}

uint64_t mprof_trace_new_g(void) {
  return atomic_fetch_add_explicit(&last_g, 1, memory_order_relaxed) + 1;
}

void mprof_trace_return_row_locked(struct mprof_trace_row *r) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE));
  r->next_unused = rows.unused;
  rows.unused = r;
}

static struct mprof_trace_row *join_locked(unsigned session, uint64_t g,
                                           uint32_t start) {
  struct mprof_tls *tls = &mprof_tls;
  if (atomic_load(&mprof_trace_session) != session)
    return NULL;
  tls->trace_session = session;
  tls->trace_row = NULL;
  struct mprof_trace_row *r = mprof_trace_new_row_locked();
  if (r && !has_room(r, 2 * MPROF_TRACE_RECORD_MAX)) {
    mprof_trace_return_row_locked(r);
    r = NULL;
  }
  if (!r)
    return NULL;
  const int tid = mprof_sys_gettid();
  enum mprof_trace_from from = MPROF_TRACE_FROM_CREATE;
  if (g == 0)
    from = mprof_trace_existing_find(tid, &g, &start);
  mprof_trace_put_begin(r, g != 0 ? g : mprof_trace_new_g(), tid, from, start);
  tls->trace_row = r;
  mprof_trace_schedule_begin(r, r->ticks * MPROF_TRACE_TICK_DIV);
  return r;
}

// Ends the session for all threads, because there is no memory left. The trace
// keeps all records made so far. Do not call this between mprof_trace_enter and
// mprof_trace_leave.
static void end_full(unsigned session) {
  if (!atomic_compare_exchange_strong(&mprof_trace_session, &session, 0))
    return;
  mprof_stat_add(MPROF_STAT_trace_full, 1);
  // mprof_contention_update_kinds acquires a lock, so it is not called while
  // the caller holds a lock. In that case, instrumented code continues to
  // report waits until the trace is stopped. Each report finds that there is no
  // session and records nothing.
  if (mprof_tls.held == 0)
    mprof_contention_update_kinds();
}

// Adds the calling thread to the session, with its first record. Returns its
// row, or NULL if the thread gets no row. session: number of the session. g:
// number of the thread, 0: unknown. start: handle of the stack of its start
// function, 0: unknown.
static MPROF_NOINLINE struct mprof_trace_row *join(unsigned session, uint64_t g,
                                                   uint32_t start) {
  // A signal handler or a destructor may run after the end of the thread was
  // recorded. Its record would add the thread to the trace again. The trace
  // would then show the thread as alive forever, because the end of a thread is
  // recorded only once.
  if (mprof_tls.is_exiting)
    return NULL;
  mprof_lock_acquire(&mprof_trace_lock);
  struct mprof_trace_row *r = join_locked(session, g, start);
  mprof_lock_release(&mprof_trace_lock);
  if (!r && !mprof_trace_is_recorder())
    end_full(session);
  else if (!r && mprof_tls.trace_session == session)
    mprof_stat_add(MPROF_STAT_trace_threads_lost, 1);
  return r;
}

// Ends the access of the calling thread to its row, because the thread cannot
// add a record. Returns NULL. session: number of the session, which this
// function ends because there is no memory; 0: the session has already ended.
static MPROF_NOINLINE struct mprof_trace_row *run_out(unsigned session) {
  mprof_trace_leave();
  if (session != 0)
    end_full(session);
  return NULL;
}

struct mprof_trace_row *mprof_trace_enter(uint32_t bytes) {
  MPROF_ASSERT(mprof_tls.guard != 0);
  unsigned session =
      atomic_load_explicit(&mprof_trace_session, memory_order_relaxed);
  struct mprof_thread *t = session != 0 ? mprof_thread_self(true) : NULL;
  if (!t)
    return NULL;
  struct mprof_trace_row *r = mprof_tls.trace_session == session
                                  ? mprof_tls.trace_row
                                  : join(session, 0, 0);
  if (mprof_unlikely(!r))
    return NULL;
  atomic_store_explicit(&t->in_trace, 1, memory_order_relaxed);
  // A compiler barrier is enough between this store and the next load, because
  // the thread that ends the session issues a memory barrier on all processors.
  atomic_signal_fence(memory_order_seq_cst);
  if (mprof_unlikely(atomic_load_explicit(&mprof_trace_session,
                                          memory_order_relaxed) != session))
    return run_out(0);
  return mprof_likely(has_room(r, bytes)) ? r : run_out(session);
}

uint32_t mprof_trace_stack(uintptr_t op, uintptr_t frame) {
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_TRACE};
  struct mprof_thread *t = mprof_thread_self(true);
  if (!t || mprof_flags.stack_depth == 0)
    return 0;
  return mprof_persistent_handle(
      mprof_bucket_at(t, &key, op != 0 ? op + 1 : 0, frame));
}

// --- threads ---

void mprof_trace_created(uint64_t g, uint32_t start, unsigned session) {
  // A signal handler that ran in this thread before this call may have added
  // the thread to the trace already.
  if (g != 0 && session == atomic_load(&mprof_trace_session) &&
      mprof_tls.trace_session != session)
    join(session, g, start);
}

void mprof_trace_thread_end(void) {
  struct mprof_trace_row *r = mprof_trace_enter(5 * MPROF_TRACE_RECORD_MAX);
  if (!r)
    return;
  mprof_trace_put_end(r);
  r->g = 0;
  mprof_trace_leave();
  mprof_lock_acquire(&mprof_trace_lock);
  if (mprof_tls.trace_session == atomic_load(&mprof_trace_session))
    mprof_trace_return_row_locked(r);
  mprof_lock_release(&mprof_trace_lock);
  mprof_tls.trace_row = NULL;
  mprof_tls.trace_session = 0;
}

// --- the list of rows ---

void mprof_trace_begin_rows_locked(uint64_t keep_ns) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE));
  rows.all = rows.unused = NULL;
  rows.len = 0;
  rows.keep_ns = keep_ns;
  rows.ticks = mprof_trace_ticks(mprof_clock_now());
  mprof_proc_thread_name(mprof_sys_getpid(), rows.name);
}

struct mprof_trace_row *mprof_trace_take_rows_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE));
  rows.unused = NULL;
  mprof_trace_buf_drop_completed();
  persist_end();
  return atomic_exchange(&rows.all, NULL);
}

// Frees the buffers of the rows, and keeps the rows for later sessions. A
// thread that had not finished a record when the session ended (is_left) may
// still write to a woken field of any buffer. If there is such a thread, the
// buffers of the rows stay mapped forever, and the thread's row is not reused.
void mprof_trace_forget_locked(struct mprof_trace_row *list) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE));
  struct mprof_trace_row *next;
  bool has_left = false;
  persist_forget(list);
  for (struct mprof_trace_row *r = list; r; r = r->next)
    has_left |= r->is_left;
  for (struct mprof_trace_row *r = list; r; r = next) {
    next = r->next;
    if (has_left)
      mprof_trace_buf_abandon(r->first);
    if (r->is_left)
      continue;
    if (!has_left)
      mprof_trace_buf_unmap(r->first);
    r->next = rows.spare;
    rows.spare = r;
  }
}

struct mprof_trace_row *mprof_trace_rows(void) {
  return atomic_load(&rows.all);
}

void mprof_trace_forget(struct mprof_trace_row *list) {
  mprof_lock_acquire(&mprof_trace_lock);
  mprof_trace_forget_locked(list);
  mprof_lock_release(&mprof_trace_lock);
}

void mprof_trace_rows_reset(void) {
  mprof_lock_reset(&mprof_trace_lock);
  rows.all = rows.unused = rows.spare = NULL;
}
