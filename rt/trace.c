// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sessions of the execution trace: their begin and end, the list of their rows,
// and which thread writes which row. Defines the public functions that start,
// stop and snapshot a trace. See trace.h. (Go: StartTrace, StopTrace)
//
// This file puts only a thread's first record, and at the end of a session the
// records that are still missing. trace_events.c and trace_user.c put all
// others; trace_out.c and trace_reader.c take the buffers from the rows.

#include "trace.h"

#include "bucket.h"
#include "bucket_at.h"
#include "clock.h"
#include "contention.h"
#include "flags.h"
#include "lock.h"
#include "message.h"
#include "os_linux.h"
#include "path.h"
#include "persistent.h"
#include "proc_threads.h"
#include "process.h"
#include "snapshot.h"
#include "stats.h"
#include "threads.h"
#include "tls.h"
#include "trace_buf.h"
#include "trace_events.h"
#include "trace_formats.h"
#include "trace_hooks.h"
#include "trace_out.h"
#include "trace_pre.h"
#include "trace_reader.h"
#include "trace_rows.h"
#include "trace_types.h"
#include "trace_user.h"
#include "writer_lock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct mprof_lock mprof_trace_lock = MPROF_LOCK_INIT(MPROF_RANK_TRACE);

static struct {
  struct mprof_trace_row *_Atomic rows; // of this session
  struct mprof_trace_row *unused;       // rows whose threads have ended
  struct mprof_trace_row *spare;        // rows of earlier sessions
  _Atomic uint32_t rows_len;            // read without the lock
  unsigned last_session;
  atomic_bool is_open; // started, and not stopped yet; read without the lock
  bool is_ending;      // stopped, and being written
  uint64_t ticks;      // time of the session's begin
  char name[MPROF_THREAD_NAME]; // of the program, at that time
} trace;                        // guarded by trace_lock

// Last thread number given out in the process.
static _Atomic uint64_t last_g;

// --- records ---

static bool are_many(void) { return mprof_trace_buf_are_many(trace.rows_len); }

static struct mprof_trace_buf *new_buf(void) {
  struct mprof_trace_buf *b = mprof_trace_buf_new(are_many());
  const uint64_t until = b ? 0 : mprof_trace_wait_until();
  for (bool may_go_on = true; !b && may_go_on;) {
    may_go_on = mprof_trace_make_room(atomic_load(&trace.rows), until);
    b = mprof_trace_buf_new(are_many()); // another thread may have made room
  }
  return b;
}

static void link_last(struct mprof_trace_row *r, struct mprof_trace_buf *b) {
  if (r->last)
    atomic_store_explicit(&r->last->next, b, memory_order_release);
  else
    r->first = b;
  r->last = b;
}

// Gives the row an empty buffer to fill, which begins with the state that its
// thread has now. False if there is no memory.
static MPROF_NOINLINE bool add_buf(struct mprof_trace_row *r) {
  struct mprof_trace_buf *b = new_buf();
  bool is_new = b != NULL;
  if (!is_new && mprof_trace_is_recorder() && r->last && r->first == r->last) {
    // Nothing could be dropped: each row has one buffer only. So this row
    // starts its own one anew.
    b = r->last;
    mprof_trace_buf_empty(b);
    r->is_cut = true;
  }
  if (!b)
    return false;
  b->row = r->id;
  b->ticks = r->ticks;
  b->g = r->g;
  b->seq = r->seq;
  b->skipped = r->skipped;
  b->start = r->start;
  b->tid = r->tid;
  b->labels = r->labels;
  b->waits = r->waits_in != 0 && r->open_ticks == 0;
  if (is_new)
    link_last(r, b);
  if (mprof_trace_is_read())
    mprof_trace_reader_news();
  // A recorder keeps as much as fits, so it makes no room ahead of time.
  if (!mprof_trace_is_recorder() &&
      mprof_trace_buf_used() > mprof_trace_buf_limit() / 2)
    mprof_trace_make_room(atomic_load(&trace.rows), 0);
  return true;
}

// Inlined, since nearly every record finds room in the row's last buffer.
__attribute__((always_inline)) static inline bool
has_room(struct mprof_trace_row *r, uint32_t bytes) {
  return (mprof_likely(r->last != NULL) &&
          mprof_likely(r->last->len + bytes <= r->last->size)) ||
         add_buf(r);
}

bool mprof_trace_has_room(struct mprof_trace_row *r, uint32_t bytes) {
  return has_room(r, bytes);
}

static struct mprof_trace_row *new_row_locked(void) {
  struct mprof_trace_row *r = trace.unused;
  if (r) {
    trace.unused = r->next_unused;
    return r;
  }
  r = trace.spare;
  if (r)
    trace.spare = r->next;
  else
    r = mprof_persistent_try_alloc(sizeof(*r));
  if (!r)
    return NULL;
  const uint32_t id = trace.rows_len++;
  *r = (struct mprof_trace_row){.next = atomic_load(&trace.rows),
                                .id = id,
                                .ticks = trace.ticks,
                                .written.is_first = id == 0};
  atomic_store(&trace.rows, r); // a thread that makes room reads it unlocked
  return r;
}

// Puts the calling thread's first records; the row has room for two. start is 0
// if nobody has seen how the thread was created. Then the file shows "main" or
// "thread" as its start function, and only its name tells it from others.
static void put_begin(struct mprof_trace_row *r, uint64_t g, int tid,
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
  strcpy(r->name, trace.name);
  r->waits_in = 0;
  r->open_ticks = 0;
  r->seq =
      from == MPROF_TRACE_FROM_WAITING || from == MPROF_TRACE_FROM_CALL ? 3 : 1;
  r->skipped =
      from == MPROF_TRACE_FROM_CALL ? 2 : from == MPROF_TRACE_FROM_WAITING;
  if (mprof_tls.labels != 0)
    mprof_trace_put_labels(r, r->ticks * MPROF_TRACE_TICK_DIV);
}

uint64_t mprof_trace_new_g(void) {
  return atomic_fetch_add_explicit(&last_g, 1, memory_order_relaxed) + 1;
}

static void return_row_locked(struct mprof_trace_row *r) {
  r->next_unused = trace.unused;
  trace.unused = r;
}

static struct mprof_trace_row *join_locked(unsigned session, uint64_t g,
                                           uint32_t start) {
  struct mprof_tls *tls = &mprof_tls;
  if (atomic_load(&mprof_trace_session) != session)
    return NULL;
  tls->trace_session = session;
  tls->trace_row = NULL;
  struct mprof_trace_row *r = new_row_locked();
  if (r && !has_room(r, 2 * MPROF_TRACE_RECORD_MAX)) {
    return_row_locked(r);
    r = NULL;
  }
  if (!r)
    return NULL;
  const int tid = mprof_sys_gettid();
  enum mprof_trace_from from = MPROF_TRACE_FROM_CREATE;
  if (g == 0)
    from = mprof_trace_pre_find(tid, &g, &start);
  put_begin(r, g != 0 ? g : mprof_trace_new_g(), tid, from, start);
  tls->trace_row = r;
  return r;
}

// Ends the recording of all threads, since there is no memory left. The trace
// keeps all records so far. Not to be called between enter and leave.
static void end_full(unsigned session) {
  if (!atomic_compare_exchange_strong(&mprof_trace_session, &session, 0))
    return;
  mprof_stat_add(MPROF_STAT_trace_full, 1);
  // While the caller holds a lock, the kinds stay switched on. Then each site
  // goes on to ask for a session until the trace is stopped.
  if (mprof_tls.locks_held == 0)
    mprof_contention_update_kinds();
}

// Brings the calling thread into the session, with its first record. Returns
// its row, or NULL.
static MPROF_NOINLINE struct mprof_trace_row *join(unsigned session, uint64_t g,
                                                   uint32_t start) {
  // A signal handler or a destructor may run after the thread's end was
  // recorded. A record of it would bring the thread back into the trace, and
  // nobody would see the thread end again.
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

// Leaves the record, and ends the session for lack of memory; session is 0 if
// it is over already. Returns NULL.
static MPROF_NOINLINE struct mprof_trace_row *run_out(unsigned session) {
  mprof_trace_leave();
  if (session != 0)
    end_full(session);
  return NULL;
}

struct mprof_trace_row *mprof_trace_enter(uint32_t bytes) {
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
  // A compiler barrier is enough here: the thread that ends the session issues
  // a memory barrier on all processors.
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
  // A signal handler that ran first may have brought the thread into the trace
  // already.
  if (g != 0 && session == atomic_load(&mprof_trace_session) &&
      mprof_tls.trace_session != session)
    join(session, g, start);
}

void mprof_trace_thread_end(void) {
  struct mprof_trace_row *r = mprof_trace_enter(4 * MPROF_TRACE_RECORD_MAX);
  if (!r)
    return;
  mprof_trace_put_end(r);
  r->g = 0;
  mprof_trace_leave();
  mprof_lock_acquire(&mprof_trace_lock);
  if (mprof_tls.trace_session == atomic_load(&mprof_trace_session))
    return_row_locked(r);
  mprof_lock_release(&mprof_trace_lock);
  mprof_tls.trace_row = NULL;
  mprof_tls.trace_session = 0;
}

// --- start ---

// Counts the bytes in use now, from which records of the heap go on.
static void begin_heap(void) {
  struct mprof_mem_snapshot s;
  int64_t bytes = 0;
  if (mprof_mem_snapshot_take(&s, false) == 0)
    for (size_t i = 0; i < s.len; i++)
      bytes += mprof_mem_scale(&s.samples[i]).inuse_bytes;
  mprof_mem_snapshot_free(&s);
  mprof_trace_heap_init(bytes);
}

static int begin_session_locked(void) {
  const unsigned session = ++trace.last_session;
  trace.rows = trace.unused = NULL;
  trace.rows_len = 0;
  trace.ticks = mprof_trace_ticks(mprof_clock_now());
  mprof_proc_thread_name(mprof_sys_getpid(), trace.name);
  begin_heap();
  mprof_trace_events_init();
  if (!mprof_thread_self(true))
    return ENOMEM;
  struct mprof_trace_row *r = new_row_locked();
  if (!r || !has_room(r, MPROF_TRACE_RECORD_MAX) ||
      mprof_trace_pre_put(r) != 0 || !has_room(r, 2 * MPROF_TRACE_RECORD_MAX))
    return ENOMEM;
  const uint64_t g = mprof_trace_new_g();
  put_begin(r, g, mprof_sys_gettid(), MPROF_TRACE_FROM_UNKNOWN, 0);
  mprof_tls.trace_row = r;
  mprof_tls.trace_session = session;
  trace.is_open = true;
  atomic_store(&mprof_trace_session, session);
  return 0;
}

// Frees the buffers of rows, and keeps the rows for later sessions. A thread
// that was given up inside a record may still sign a slot of any buffer when it
// goes on. If there is such a thread, all buffers are abandoned instead, and
// its row is kept as it is.
static void forget_locked(struct mprof_trace_row *rows) {
  struct mprof_trace_row *next;
  bool has_left = false;
  for (struct mprof_trace_row *r = rows; r; r = r->next)
    has_left |= r->is_left;
  for (struct mprof_trace_row *r = rows; r; r = next) {
    next = r->next;
    if (has_left)
      mprof_trace_buf_abandon(r->first);
    if (r->is_left)
      continue;
    if (!has_left)
      mprof_trace_buf_unmap(r->first);
    r->next = trace.spare;
    trace.spare = r;
  }
}

struct mprof_trace_row *mprof_trace_rows(void) {
  return atomic_load(&trace.rows);
}

void mprof_trace_forget(struct mprof_trace_row *rows) {
  mprof_lock_acquire(&mprof_trace_lock);
  forget_locked(rows);
  mprof_lock_release(&mprof_trace_lock);
}

// Takes the session's rows, which no thread writes any more.
static struct mprof_trace_row *take_rows_locked(void) {
  struct mprof_trace_row *rows = atomic_exchange(&trace.rows, NULL);
  trace.unused = NULL;
  mprof_trace_pre_drop();
  trace.is_open = false;
  return rows;
}

static int start_locked(const char *path, int fd, bool is_read) {
  if (trace.is_open || trace.is_ending || mprof_trace_is_read())
    return EBUSY;
  if (is_read)
    mprof_trace_reader_begin();
  const int error = begin_session_locked();
  if (error == 0)
    mprof_trace_write_begin(path, fd);
  else
    forget_locked(take_rows_locked());
  if (error != 0 && is_read)
    mprof_trace_reader_reset();
  return error;
}

static int start(const char *path, int fd, bool is_read) {
  if (!mprof_init_ready())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&mprof_trace_lock);
  const int error = start_locked(path, fd, is_read);
  mprof_lock_release(&mprof_trace_lock);
  if (error == 0)
    mprof_contention_update_kinds();
  mprof_guard_leave();
  return error;
}

MPROF_PUBLIC int mprof_trace_start(const char *path) {
  if (!path || path[0] == '\0')
    return EINVAL;
  if (strlen(path) >= MPROF_PATH_MAX)
    return ENAMETOOLONG;
  return start(path, -1, false);
}

MPROF_PUBLIC int mprof_trace_start_fd(int fd) {
  return fd < 0 ? EBADF : start(NULL, fd, false);
}

MPROF_PUBLIC int mprof_trace_start_reader(void) {
  return start(NULL, -1, true);
}

// --- stop ---

// Makes a record of the call that the row's thread is in, so that the thread
// does not seem to run; or puts the name of a thread that runs.
static void close_row(struct mprof_trace_row *r) {
  if (r->g == 0 || !has_room(r, 2 * MPROF_TRACE_RECORD_MAX))
    return;
  if (r->waits_in == 0 || r->open_ticks != 0) // it runs
    mprof_trace_put_thread_name(r, r->ticks * MPROF_TRACE_TICK_DIV);
  if (r->open_ticks == 0)
    return;
  unsigned char *p =
      mprof_trace_begin(r, r->open_type, r->open_ticks * MPROF_TRACE_TICK_DIV);
  mprof_trace_finish(r, mprof_trace_put(p, r->open_stack));
}

// Ends the session and returns its rows. Any later record belongs to another
// session.
static struct mprof_trace_row *end_session_locked(void) {
  atomic_store(&mprof_trace_session, 0);
  mprof_lock_acquire(&mprof_registry_lock);
  mprof_threads_leave_trace();
  mprof_lock_release(&mprof_registry_lock);
  for (struct mprof_trace_row *r = atomic_load(&trace.rows); r; r = r->next) {
    r->is_left = r->g != 0 && r->thread->has_left_trace;
    if (!r->is_left)
      close_row(r);
  }
  return take_rows_locked();
}

bool mprof_trace_has_session(void) { return atomic_load(&trace.is_open); }

bool mprof_trace_is_open(const char **own_path) {
  mprof_lock_acquire(&mprof_trace_lock);
  const bool is_open = trace.is_open;
  mprof_lock_release(&mprof_trace_lock);
  // The path stays valid: only the holder of writer_lock ends the session.
  *own_path = is_open ? mprof_trace_own_path() : NULL;
  return is_open;
}

// Ends the session and writes it. trace_lock is not held while the file is
// written: writing asks the loader for the modules, and a thread may hold the
// loader's lock while its first record waits for trace_lock.
static int finish_locked(const char *path, struct mprof_trace_result *result) {
  if (!trace.is_open)
    return 0;
  struct mprof_trace_row *rows = end_session_locked();
  if (mprof_trace_is_read()) {
    mprof_trace_reader_end(rows);
    return 0;
  }
  trace.is_ending = true;
  mprof_lock_release(&mprof_trace_lock);
  const int error = mprof_trace_write_end(rows, path, result);
  mprof_lock_acquire(&mprof_trace_lock);
  forget_locked(rows);
  trace.is_ending = false;
  return error;
}

int mprof_trace_finish_session(const char *path,
                               struct mprof_trace_result *result) {
  *result = (struct mprof_trace_result){0};
  mprof_lock_acquire(&mprof_trace_lock);
  const int error = finish_locked(path, result);
  mprof_lock_release(&mprof_trace_lock);
  mprof_contention_update_kinds();
  return error;
}

// Writes the newest part of the trace so far. The recording goes on as another
// session, so that no thread waits for the file. The next snapshot begins where
// this one ends.
static int snapshot_locked(const char *path) {
  if (!trace.is_open || !mprof_trace_is_recorder())
    return trace.is_open ? ENOTSUP : ESRCH;
  int error = mprof_trace_write_open(path); // if it fails, nothing is lost
  if (error != 0)
    return error;
  struct mprof_trace_row *rows = end_session_locked();
  struct mprof_trace_result result = {0};
  mprof_trace_buf_trim();
  mprof_trace_buf_double(true);
  error = begin_session_locked();
  if (error != 0)
    forget_locked(take_rows_locked());
  mprof_lock_release(&mprof_trace_lock);
  int write_error = mprof_trace_write_snapshot(rows, path, &result);
  if (write_error == 0)
    write_error = result.cut;
  mprof_lock_acquire(&mprof_trace_lock);
  forget_locked(rows);
  mprof_trace_buf_double(false);
  return write_error != 0 ? write_error : error;
}

MPROF_PUBLIC int mprof_trace_snapshot(const char *path) {
  if (!path || path[0] == '\0')
    return EINVAL;
  if (strlen(path) >= MPROF_PATH_MAX)
    return ENAMETOOLONG;
  if (!mprof_init_ready() || !mprof_process_is_own())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&mprof_writer_lock);
  mprof_lock_acquire(&mprof_trace_lock);
  int error = snapshot_locked(path);
  mprof_lock_release(&mprof_trace_lock);
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
  return error;
}

MPROF_PUBLIC int mprof_trace_stop(void) {
  if (!mprof_init_ready() || !mprof_process_is_own())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&mprof_writer_lock);
  struct mprof_trace_result result;
  int error = mprof_trace_finish_session(NULL, &result);
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
  return error != 0 ? error : result.cut;
}

void mprof_trace_init(void) {
  mprof_trace_hooks = (struct mprof_trace_hooks){
      .labels = mprof_trace_labels,
      .created = mprof_trace_created,
      .thread_end = mprof_trace_thread_end,
      .wait_begin = mprof_trace_wait_begin,
      .wait_end = mprof_trace_wait_end,
      .release_begin = mprof_trace_release_begin,
      .put_wake = mprof_trace_put_wake,
      .heap = mprof_trace_heap,
  };
  if (mprof_flags.trace_last[0] != '\0' &&
      mprof_trace_last_ns(mprof_flags.trace_last) == 0)
    mprof_message("trace_last is no time as 10s, 500ms or 2m; keeping all that "
                  "there is room for");
  mprof_trace_format_check();
  if (mprof_flags.trace || mprof_trace_is_recorder())
    start(NULL, -1, false);
}

void mprof_trace_reset(void) {
  mprof_lock_reset(&mprof_trace_lock);
  mprof_trace_write_reset();
  mprof_trace_reader_reset();
  mprof_trace_buf_reset();
  mprof_trace_names_reset();
  mprof_trace_ended_reset();
  atomic_store(&mprof_trace_session, 0);
  trace.rows = trace.unused = trace.spare = NULL;
  trace.is_ending = false;
  mprof_trace_pre_reset();
  trace.is_open = false;
}
