// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts and ends the sessions of the execution trace (trace.h). Defines the
// public functions that start, stop and snapshot a trace. (Go: StartTrace,
// StopTrace)
//
// At the end of a session, this file adds the last records of each thread.
// trace_rows.c, trace_events.c and trace_user.c add all other records.
// trace_out.c writes the full buffers.

#include "trace/trace.h"

#include "file/outfile.h"
#include "lock_wait/contention.h"
#include "options/flags.h"
#include "process/process.h"
#include "snapshot/snapshot.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "trace/trace_buf.h"
#include "trace/trace_events.h"
#include "trace/trace_out.h"
#include "trace/trace_records.h"
#include "trace/trace_rows.h"
#include "trace/write_trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

atomic_uint mprof_trace_session;

uint64_t mprof_trace_frequency(void) {
  const uint64_t frequency =
      mprof_clock_ticks_per_second() / MPROF_TRACE_TICK_DIV;
  return frequency != 0 ? frequency : 1;
}

static struct {
  unsigned last_session;
  // true: a session was started and not stopped. Also read without trace_lock.
  atomic_bool is_open;
  bool is_ending; // the file of an ended session is being written
} trace;          // guarded by trace_lock

// --- start ---

// Computes the number of heap bytes in use now. The heap records of the session
// start from this number.
static void begin_heap(void) {
  struct mprof_mem_snapshot s;
  int64_t bytes = 0;
  if (mprof_mem_snapshot_take(&s, false) == 0)
    for (size_t i = 0; i < s.len; i++)
      bytes += mprof_mem_scale(&s.samples[i]).inuse_bytes;
  mprof_mem_snapshot_free(&s);
  mprof_trace_heap_init(bytes);
}

// Adds the calling thread to the session as the first thread, with row r.
static void join_first(struct mprof_trace_row *r, unsigned session) {
  const uint64_t g = mprof_trace_new_g();
  mprof_trace_put_begin(r, g, mprof_sys_gettid(), MPROF_TRACE_FROM_UNKNOWN, 0);
  mprof_tls.trace_row = r;
  mprof_tls.trace_session = session;
  mprof_trace_schedule_begin(r, r->ticks * MPROF_TRACE_TICK_DIV);
}

// Adds to row r the records of an extra thread, which exists only in the file,
// because the session is started by a thread of the runtime itself, which no
// trace shows. The file needs a thread that runs at its start, because readers
// accept the number of processors only from a running thread (trace_window.c).
static void put_extra_thread(struct mprof_trace_row *r) {
  mprof_trace_put_begin(r, mprof_trace_new_g(), 0, MPROF_TRACE_FROM_UNKNOWN, 0);
  mprof_trace_finish(r,
                     mprof_trace_begin(r, MPROF_TRACE_END, mprof_clock_now()));
  r->g = 0;
  mprof_trace_return_row_locked(r);
}

static int begin_session_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE));
  const unsigned session = ++trace.last_session;
  // Until the session begins below, this thread adds records to no earlier one.
  mprof_tls.trace_session = 0;
  mprof_trace_begin_rows_locked(mprof_trace_last_ns(mprof_flags.trace_last));
  begin_heap();
  mprof_trace_events_init();
  if (!mprof_tls.is_own && !mprof_thread_self(true))
    return -ENOMEM;
  struct mprof_trace_row *r = mprof_trace_new_row_locked();
  if (!r || !mprof_trace_has_room(r, MPROF_TRACE_RECORD_MAX) ||
      mprof_trace_existing_put(r) != 0 ||
      !mprof_trace_has_room(r, 2 * MPROF_TRACE_RECORD_MAX))
    return -ENOMEM;
  if (mprof_tls.is_own)
    put_extra_thread(r);
  else
    join_first(r, session);
  trace.is_open = true;
  atomic_store(&mprof_trace_session, session);
  return 0;
}

// Removes all rows from the session and returns them. Call this when no thread
// can write to the rows any more.
static struct mprof_trace_row *take_rows_locked(void) {
  struct mprof_trace_row *rows = mprof_trace_take_rows_locked();
  mprof_trace_existing_drop();
  trace.is_open = false;
  return rows;
}

static int start_locked(const char *path, int fd, bool is_read) {
  if (trace.is_open || trace.is_ending || mprof_trace_is_read())
    return -EBUSY;
  if (is_read)
    mprof_trace_reader_begin();
  const int error = begin_session_locked();
  if (error == 0)
    mprof_trace_out_begin(path, fd);
  else
    mprof_trace_forget_locked(take_rows_locked());
  if (error != 0 && is_read)
    mprof_trace_reader_reset();
  return error;
}

static int start_guarded(const char *path, int fd, bool is_read) {
  mprof_lock_acquire(&mprof_trace_lock);
  const int error = start_locked(path, fd, is_read);
  mprof_lock_release(&mprof_trace_lock);
  if (error == 0)
    mprof_contention_update_kinds();
  return error;
}

static int start(const char *path, int fd, bool is_read) {
  if (!mprof_process_ready())
    return -ENOSYS;
  if (!mprof_guard_enter())
    return -EBUSY;
  const int error = start_guarded(path, fd, is_read);
  mprof_guard_leave();
  return error;
}

int mprof_trace_begin_session(int fd) { return start_guarded(NULL, fd, false); }

bool mprof_trace_has_session_of(int fd) {
  mprof_lock_acquire(&mprof_trace_lock);
  const bool is_its = trace.is_open && mprof_trace_own_fd() == fd;
  mprof_lock_release(&mprof_trace_lock);
  return is_its;
}

MPROF_PUBLIC int mprof_trace_start(const char *path) {
  if (!path || path[0] == '\0')
    return EINVAL;
  if (strlen(path) >= MPROF_PATH_MAX)
    return ENAMETOOLONG;
  return -start(path, -1, false);
}

MPROF_PUBLIC int mprof_trace_start_fd(int fd) {
  return fd < 0 ? EBADF : -start(NULL, fd, false);
}

MPROF_PUBLIC int mprof_trace_start_reader(void) {
  return -start(NULL, -1, true);
}

// --- stop ---

// Adds the last records to row r at the end of the session. Adds the thread's
// name, unless the trace shows the thread as waiting. If the thread is in a
// call that is not recorded yet, also records the call, because otherwise the
// thread would appear to run. now: end of the session.
static void close_row(struct mprof_trace_row *r, uint64_t now) {
  if (r->g == 0 || !mprof_trace_has_room(r, 3 * MPROF_TRACE_RECORD_MAX))
    return;
  // If the thread does not wait, or its call is not recorded yet, the trace
  // shows the thread as running so far. The name is recorded as a message, and
  // readers accept a message only from a running thread.
  if (r->waits_in == 0 || r->open_ticks != 0)
    mprof_trace_put_thread_name(r, r->ticks * MPROF_TRACE_TICK_DIV);
  if (r->waits_in == 0)
    mprof_trace_schedule_end(r, now);
  if (r->open_ticks == 0)
    return;
  unsigned char *p =
      mprof_trace_begin(r, r->open_type, r->open_ticks * MPROF_TRACE_TICK_DIV);
  mprof_trace_finish(r, mprof_trace_put(p, r->open_stack));
}

// Stores the end of the session in each row: the time `end` or the time of the
// last record of all rows, whichever is later.
static void end_rows(struct mprof_trace_row *rows, uint64_t end) {
  for (const struct mprof_trace_row *r = rows; r; r = r->next)
    end = r->ticks > end ? r->ticks : end;
  for (struct mprof_trace_row *r = rows; r; r = r->next)
    r->end_ticks = end;
}

// Ends the session and returns its rows. Records that threads add after this
// call belong to a later session.
static struct mprof_trace_row *end_session_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE));
  // If the session has already ended because its memory was full, its end is
  // the time of its last record, which end_rows finds. Otherwise the session
  // ends now. The clock is read before the wait for threads that are adding
  // records, because this wait may take long and nothing is recorded in it.
  const bool is_full = atomic_exchange(&mprof_trace_session, 0) == 0;
  const uint64_t now = mprof_clock_now();
  const uint64_t end = is_full ? 1 : mprof_trace_ticks(now);
  mprof_lock_acquire(&mprof_registry_lock);
  mprof_threads_leave_trace();
  mprof_lock_release(&mprof_registry_lock);
  for (struct mprof_trace_row *r = mprof_trace_rows(); r; r = r->next) {
    r->is_left = r->g != 0 && r->thread->has_left_trace;
    if (!r->is_left)
      close_row(r, is_full ? r->ticks * MPROF_TRACE_TICK_DIV : now);
  }
  end_rows(mprof_trace_rows(), end);
  return take_rows_locked();
}

bool mprof_trace_has_session(void) { return atomic_load(&trace.is_open); }

bool mprof_trace_is_open(const char **own_path) {
  mprof_lock_acquire(&mprof_trace_lock);
  const bool is_open = trace.is_open;
  mprof_lock_release(&mprof_trace_lock);
  // The path stays valid, because only a holder of writer_lock can end the
  // session, and the caller holds writer_lock.
  *own_path = is_open ? mprof_trace_own_path() : NULL;
  return is_open;
}

// Ends the session and writes the trace. Releases trace_lock while the file is
// written, because the writer needs the loader's lock for the list of modules.
// Another thread may hold the loader's lock and wait for trace_lock, to add its
// first record. So holding trace_lock here could cause a deadlock.
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
  const int error = mprof_trace_out_end(rows, path, result);
  mprof_lock_acquire(&mprof_trace_lock);
  mprof_trace_forget_locked(rows);
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

// Writes the newest part of the trace, but nothing before the time `from` (in
// ticks of the trace), to the file at `path`, or to the descriptor fd if path
// is NULL. The recording goes on in a new session, so that no thread waits for
// the file. The next snapshot begins where this snapshot ends.
static int snapshot_locked(const char *path, int fd, uint64_t from) {
  if (!trace.is_open || !mprof_trace_is_recorder())
    return trace.is_open ? -ENOTSUP : -ESRCH;
  // The file is opened first, because a failure at this point loses no records.
  int error = mprof_trace_out_open(path, fd);
  if (error != 0)
    return error;
  struct mprof_trace_row *rows = end_session_locked();
  struct mprof_trace_result result = {0};
  mprof_trace_buf_trim();
  mprof_trace_buf_double(true);
  error = begin_session_locked();
  if (error != 0)
    mprof_trace_forget_locked(take_rows_locked());
  mprof_lock_release(&mprof_trace_lock);
  int write_error = mprof_trace_out_snapshot(rows, path, fd, from, &result);
  if (write_error == 0)
    write_error = result.cut;
  mprof_lock_acquire(&mprof_trace_lock);
  mprof_trace_forget_locked(rows);
  mprof_trace_buf_double(false);
  return write_error != 0 ? write_error : error;
}

static int snapshot(const char *path, int fd, uint64_t from) {
  mprof_lock_acquire(&mprof_trace_lock);
  const int error = snapshot_locked(path, fd, from);
  mprof_lock_release(&mprof_trace_lock);
  return error;
}

int mprof_trace_snapshot_to(int fd) { return snapshot(NULL, fd, 0); }

int mprof_trace_snapshot_from(const char *path, uint64_t ticks) {
  return snapshot(path, -1, ticks);
}

MPROF_PUBLIC int mprof_trace_snapshot(const char *path) {
  if (!path || path[0] == '\0')
    return EINVAL;
  if (strlen(path) >= MPROF_PATH_MAX)
    return ENAMETOOLONG;
  if (!mprof_process_ready() || !mprof_process_is_own())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&mprof_writer_lock);
  const int error = snapshot(path, -1, 0);
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
  return -error;
}

MPROF_PUBLIC int mprof_trace_stop(void) {
  if (!mprof_process_ready() || !mprof_process_is_own())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&mprof_writer_lock);
  struct mprof_trace_result result;
  int error = mprof_trace_finish_session(NULL, &result);
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
  return -(error != 0 ? error : result.cut);
}

// Prints a message if the value of the option trace_last is not a time.
static void check_trace_last(void) {
  char line[256 + sizeof(mprof_flags.trace_last)];
  struct mprof_text t = MPROF_TEXT(line);
  if (mprof_flags.trace_last[0] == '\0' ||
      mprof_trace_last_ns(mprof_flags.trace_last) != 0)
    return;
  mprof_text_str(&t, "value '");
  mprof_text_str(&t, mprof_flags.trace_last);
  mprof_text_str(
      &t, "' of option 'trace_last' is not a time such as 10s, "
          "500ms or 2m; MProf keeps as much of the trace as fits in memory");
  mprof_message(line);
}

void mprof_trace_outlet_init(void) {
  mprof_guard_hooks.abandon = mprof_trace_abandon;
  mprof_trace_outlet = (struct mprof_trace_outlet){
      mprof_trace_make_room, mprof_trace_wait_until, mprof_trace_reader_news};
}

void mprof_trace_init(void) {
  check_trace_last();
  mprof_trace_format_check();
  mprof_slow_tasks_init();
  if (mprof_flags.trace || mprof_trace_is_recorder())
    start(NULL, -1, false);
}

void mprof_trace_reset(void) {
  mprof_trace_out_reset();
  mprof_trace_reader_reset();
  mprof_trace_buf_reset();
  mprof_trace_names_reset();
  mprof_slow_tasks_reset();
  mprof_trace_events_reset();
  atomic_store(&mprof_trace_session, 0);
  mprof_trace_rows_reset();
  mprof_trace_samples_reset();
  trace.is_ending = false;
  trace.is_open = false;
}
