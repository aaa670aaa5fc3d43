// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides where and when the trace of a session is written; see trace_out.h.
//
// The records stay in memory until half of the memory limit is in use. From
// then on, each thread that fills a buffer writes some of the oldest buffers to
// the file before it continues. The rest is written at the end of the session,
// when no thread adds records. A flight recorder drops the oldest buffers
// instead of writing them.
//
// Buffers are written late because of WAKE records. A WAKE record stands for a
// release, and the woken thread writes its number into the record later. At
// that time, the record is nearly always still in memory.

#include "trace/trace_out.h"

#include "file/outfile.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "trace/trace.h"
#include "trace/trace_buf.h"
#include "trace/trace_events.h"
#include "trace/trace_records.h"
#include "trace/trace_rows.h"
#include "trace/write_trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// Maximum number of buffers that a thread writes to the file before it
// continues its own work.
enum { WRITTEN_AT_ONCE = 4 };
// After the trace has ended, the rest of the trace is given up if the
// descriptor (such as a pipe) accepts no bytes for this time.
enum { PATIENCE_MS = 5000 };
// Maximum time that a thread waits for the reader of the descriptor during the
// session. A thread waits if the memory is full, or if the records that it
// writes do not fit into the output buffer in `to.out`.
enum { WAIT_MS = 1000 };
// Values for reserving disk space. STACK_BYTES: estimated size in the file of a
// stack with its strings. RESERVED_STACKS: number of stacks to reserve space
// for, because new stacks may appear while the buffers in memory are written.
enum { STACK_BYTES = 1024, RESERVED_STACKS = 1024 };
// If the trace does not fit on the disk, the oldest 1/DROPPED_PART of it is
// dropped and the rest is written again.
enum { DROPPED_PART = 4 };
// Maximum number in the option trace_last.
#define LAST_MAX 10000000u

static struct {
  // The thread (its mprof_tls) that uses the other fields during the session;
  // NULL: none.
  _Atomic(struct mprof_tls *) user;
  int fd;          // descriptor from the program; -1: write to path
  bool has_reader; // fd is not a regular file; constant in a session
  char path[MPROF_PATH_MAX];
  struct mprof_outfile *out; // NULL: not open yet
  struct mprof_trace_writer *writer;
  int error;
  bool has_waited;     // a wait timed out; the reader still accepts no data
  bool has_parts;      // some buffers were already written and freed
  bool is_recorder;    // the session is a flight recorder
  uint64_t keep_ticks; // maximum age of records to write; 0: write all
} to;

uint64_t mprof_trace_last_ns(const char *s) {
  static const struct {
    const char *unit;
    uint64_t ns;
  } units[] = {{"ms", 1000000},
               {"s", 1000000000},
               {"", 1000000000},
               {"m", UINT64_C(60000000000)}};
  uint64_t n = 0;
  const char *p = s;
  for (; *p >= '0' && *p <= '9' && n <= LAST_MAX; p++)
    n = 10 * n + (uint64_t)(*p - '0');
  for (size_t i = 0; p != s && i < sizeof(units) / sizeof(units[0]); i++)
    if (strcmp(p, units[i].unit) == 0 && n != 0 && n <= LAST_MAX)
      return n * units[i].ns;
  return 0;
}

// Stores `path` in to.path as an absolute path, because the program may change
// its working directory before the trace ends.
static void make_absolute(const char *path) {
  size_t len = 0;
  if (path[0] != '/') {
    long n = mprof_sys_readlink("/proc/self/cwd", to.path, sizeof(to.path) - 1);
    if (n > 0 && (size_t)n + 1 + strlen(path) < sizeof(to.path)) {
      len = (size_t)n;
      to.path[len++] = '/';
    }
  }
  strcpy(to.path + len, path);
}

void mprof_trace_out_begin(const char *path, int fd) {
  to.fd = fd;
  to.has_reader = fd >= 0 && !mprof_os_is_regular(fd);
  to.path[0] = '\0';
  if (path)
    make_absolute(path);
  to.error = 0;
  to.has_waited = false;
  to.is_recorder = mprof_trace_is_recorder();
  to.keep_ticks =
      mprof_clock_ticks(mprof_trace_last_ns(mprof_flags.trace_last)) /
      MPROF_TRACE_TICK_DIV;
}

const char *mprof_trace_own_path(void) {
  return to.path[0] != '\0' ? to.path : NULL;
}

int mprof_trace_own_fd(void) { return to.fd; }

static void put(void *arg, const void *data, size_t len) {
  mprof_outfile_put(arg, data, len);
}

// Creates to.writer, which writes to `out`. Returns 0 or -errno.
static int open_writer(struct mprof_outfile *out) {
  const struct mprof_trace_sink sink = {put, out};
  to.writer =
      mprof_trace_writer_new(&sink, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
  return to.writer ? 0 : -ENOMEM;
}

static void close_writer(void) {
  if (to.writer)
    mprof_trace_writer_free(to.writer);
  to.writer = NULL;
}

static int open_out(const char *path, int fd) {
  struct mprof_outfile *out = mprof_os_map(sizeof(*out));
  if (!out)
    return -ENOMEM;
  int error = fd >= 0 ? mprof_outfile_open_fd(out, fd, WAIT_MS)
                      : mprof_outfile_open(out, path, false);
  if (error == 0) {
    error = open_writer(out);
    if (error == 0) {
      to.out = out;
      to.has_parts = false;
      return 0;
    }
    out->error = error;
    mprof_outfile_close(out);
  }
  mprof_os_unmap(out, sizeof(*out));
  return error;
}

// Frees the oldest buffer of row r.
static void drop_first(struct mprof_trace_row *r) {
  struct mprof_trace_buf *b = r->first;
  r->is_cut = true;
  r->first = b->next;
  atomic_store(&b->next, NULL);
  mprof_trace_buf_free(b);
}

// Writes the oldest buffer of row r, which is complete, and frees it.
static void write_first(struct mprof_trace_writer *w,
                        struct mprof_trace_row *r) {
  mprof_trace_buf_seal(r->first);
  mprof_trace_write_records(w, r, r->first);
  drop_first(r);
}

// Writes up to WRITTEN_AT_ONCE complete buffers, and returns whether it wrote
// any.
static bool write_some(void) {
  int n = 0;
  struct mprof_trace_row *r;
  while (n < WRITTEN_AT_ONCE && mprof_outfile_send(to.out, 0) &&
         (r = mprof_trace_buf_take_completed()) != NULL) {
    write_first(to.writer, r);
    to.has_parts = true;
    n++;
  }
  return n != 0;
}

// Returns the row of an ended session whose first buffer is the best to drop:
// of all first buffers that are complete, the one that ended earliest. Dropping
// this buffer loses the least, because the file begins where the last dropped
// buffer ended. Returns NULL if no row has a complete buffer.
static struct mprof_trace_row *oldest(struct mprof_trace_row *rows) {
  struct mprof_trace_row *found = NULL;
  uint64_t found_end = 0;
  for (struct mprof_trace_row *r = rows; r; r = r->next) {
    const struct mprof_trace_buf *next =
        r->first ? atomic_load_explicit(&r->first->next, memory_order_acquire)
                 : NULL;
    if (next && (!found || next->ticks < found_end)) {
      found = r;
      found_end = next->ticks;
    }
  }
  return found;
}

// Drops the oldest complete buffer, and adds its length to *bytes. Returns
// false if each row has only the buffer that is being filled.
static bool drop_one(struct mprof_trace_row *rows, size_t *bytes) {
  struct mprof_trace_row *r = oldest(rows);
  if (!r)
    return false;
  *bytes += r->first->len;
  drop_first(r);
  return true;
}

// Drops some of the oldest buffers of a flight recorder. Returns false if no
// buffer can be dropped.
static bool drop_some(void) {
  int n = 0;
  struct mprof_trace_row *r;
  while (n < WRITTEN_AT_ONCE &&
         (r = mprof_trace_buf_take_completed()) != NULL) {
    drop_first(r);
    n++;
  }
  return n != 0;
}

// Opens the file before the session ends. A session that was started by the
// option trace gets its path only at the end. Until then, it writes to a
// temporary file whose name derives from the option log_path.
static int open_first(void) {
  char path[MPROF_PATH_MAX];
  if (to.fd >= 0 || to.path[0] != '\0')
    return open_out(to.path, to.fd);
  int error = mprof_path_base(path, sizeof(path));
  if (error != 0)
    return error;
  mprof_path_make_directory(path);
  return open_out(path, -1);
}

// Returns how many bytes to reserve on the disk: for all records that may be in
// memory, and for the stacks, which are written last. Because of this reserve,
// the file can be completed even if the disk becomes full.
static uint64_t bytes_of_rest(void) {
  const uint64_t records = mprof_trace_buf_limit();
  const uint64_t stacks = RESERVED_STACKS + to.writer->handles.len;
  return records + records / 2 + stacks * STACK_BYTES;
}

// Returns whether the calling thread should wait for the reader of the
// descriptor. until: time until which the thread may wait; 0: no wait. After
// one wait has timed out, no thread waits until the reader has accepted all
// unsent bytes.
static bool is_to_wait(uint64_t until) {
  const bool is = to.out->error == 0 && !to.has_waited && until != 0 &&
                  mprof_clock_now() < until;
  if (until != 0)
    to.has_waited = !is;
  return is;
}

// Writes some buffers to the file, and returns whether it wrote any. First
// sends the data of earlier calls that the reader of the descriptor has not yet
// accepted, and writes no buffer until all of these data are sent. Sets
// *must_wait to true if the caller should wait for the reader.
static bool write_to_file(uint64_t until, bool *must_wait) {
  if (!mprof_trace_format_streams())
    return false;
  if (!to.out && to.error == 0)
    to.error = open_first();
  if (!to.out || to.out->error != 0)
    return false;
  if (!mprof_outfile_send(to.out, 0)) {
    *must_wait = is_to_wait(until);
    return false;
  }
  to.has_waited = false;
  return mprof_outfile_reserve(to.out, bytes_of_rest()) == 0 && write_some();
}

uint64_t mprof_trace_wait_until(void) {
  return mprof_clock_now() + mprof_clock_ticks(WAIT_MS * UINT64_C(1000000));
}

bool mprof_trace_make_room(uint64_t until) {
  bool has_written = false, must_wait = false;
  struct mprof_tls *none;
  // A thread that has left this function by longjmp stays the user until its
  // next event, so the wait has a limit also for files.
  const uint64_t limit =
      to.has_reader
          ? until
          : until + mprof_clock_ticks(PATIENCE_MS * UINT64_C(1000000));
  while (none = NULL,
         !atomic_compare_exchange_strong(&to.user, &none, &mprof_tls)) {
    if (until == 0)
      return true;
    if (mprof_clock_now() >= limit)
      return false;
    mprof_sys_sleep_ms(1);
  }
  if (to.is_recorder)
    has_written = drop_some();
  else if (!mprof_trace_is_read()) // mprof_trace_read takes the buffers itself
    has_written = write_to_file(until, &must_wait);
  atomic_store_explicit(&to.user, NULL, memory_order_release);
  // `user` is already NULL, so other threads can write buffers to the file
  // and free them during the sleep.
  if (must_wait)
    mprof_sys_sleep_ms(1);
  return has_written || must_wait;
}

bool mprof_trace_is_written_by_self(void) {
  return atomic_load_explicit(&to.user, memory_order_relaxed) == &mprof_tls;
}

void mprof_trace_abandon(void) {
  struct mprof_tls *self = &mprof_tls;
  if (mprof_tls.self)
    mprof_trace_leave();
  atomic_compare_exchange_strong(&to.user, &self, NULL);
}

static void write_all(struct mprof_trace_row *rows) {
  for (struct mprof_trace_row *r = rows; r; r = r->next) {
    for (struct mprof_trace_buf *b = r->first; b; b = b->next) {
      mprof_trace_buf_seal(b);
      mprof_trace_write_records(to.writer, r, b);
    }
  }
}

// Writes the rows, then the tail of the file. If is_part is true, as for a
// flight recorder, writes only the records from the time `from` on. Returns 0
// or -errno.
static int write_rows(struct mprof_trace_row *rows, uint64_t from,
                      bool is_part) {
  int error = 0;
  if (!is_part || mprof_trace_is_whole(rows, from))
    write_all(rows);
  else
    error = mprof_trace_write_window(to.writer, rows, from);
  if (error == 0)
    // Flushes the events before writing the stacks, because the stacks are
    // useless if writing the events has failed.
    error = mprof_outfile_flush(to.out);
  if (error == 0) {
    mprof_trace_write_samples(to.writer, rows ? rows->end_ticks : 1);
    mprof_trace_write_tail(to.writer, rows ? rows->end_ticks : 1);
  }
  if (error == 0)
    error = to.writer->error;
  return error != 0 ? error : mprof_outfile_flush(to.out);
}

static bool is_full(int error) {
  return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

// Drops the oldest part of the trace because the disk is full. The size of the
// file is known only after writing it. Therefore the caller writes the file
// again, and calls this function again until the file fits. Returns false if
// nothing can be dropped. Also returns false if the file cannot be written
// again, because some buffers were already freed or the descriptor belongs to
// the program.
static bool drop_for_disk(struct mprof_trace_row *rows) {
  size_t bytes = 0, dropped = 0;
  if (to.has_parts || to.out->is_lent)
    return false;
  for (const struct mprof_trace_row *r = rows; r; r = r->next)
    for (const struct mprof_trace_buf *b = r->first; b; b = b->next)
      bytes += b->len;
  if (!drop_one(rows, &dropped))
    return false;
  while (dropped < bytes / DROPPED_PART && drop_one(rows, &dropped))
    ;
  return true;
}

static int begin_anew(void) {
  close_writer();
  const int error = mprof_outfile_restart(to.out);
  return error != 0 ? error : open_writer(to.out);
}

// Writes all records that are in memory, or only those of a flight recorder
// from the time `from` on, and completes the file. If the file does not fit on
// the disk, drops the oldest part of the trace. In that case, *cut receives the
// -errno of the failed write. Returns 0 or -errno.
static int write_rest(struct mprof_trace_row *rows, uint64_t from, int *cut) {
  // keep_ticks is subtracted from the end of the session and not from the
  // current time, because the session may have ended some time ago.
  const uint64_t end = rows ? rows->end_ticks : 0;
  if (to.keep_ticks != 0 && end > to.keep_ticks && end - to.keep_ticks > from)
    from = end - to.keep_ticks;
  int error = write_rows(rows, from, to.is_recorder);
  while (is_full(error) && drop_for_disk(rows)) {
    *cut = error;
    error = begin_anew();
    if (error == 0)
      error = write_rows(rows, from, true);
  }
  if (error == 0 && *cut != 0)
    mprof_stat_add(MPROF_STAT_trace_disk_full, 1);
  return error;
}

static int write_end(struct mprof_trace_row *rows, const char *path, int fd,
                     uint64_t from, struct mprof_trace_result *result) {
  if (!to.out && (to.error = open_out(path, fd)) != 0)
    return to.error;
  if (fd < 0)
    strcpy(to.out->path, path);
  if (to.out->patience_ms != 0)
    to.out->patience_ms = PATIENCE_MS;
  const int own_error = write_rest(rows, from, &result->cut);
  if (to.writer)
    result->events = to.writer->events;
  if (own_error != 0 && to.out->error == 0)
    // The error makes mprof_outfile_close discard the file, which is
    // incomplete.
    to.out->error = own_error;
  const int error = mprof_outfile_close(to.out);
  close_writer();
  mprof_os_unmap(to.out, sizeof(*to.out));
  to.out = NULL;
  return error;
}

int mprof_trace_out_end(struct mprof_trace_row *rows, const char *path,
                        struct mprof_trace_result *result) {
  char by_option[MPROF_PATH_MAX];
  if (to.path[0] != '\0')
    path = to.path;
  else if (to.fd >= 0)
    path = "";
  if (path)
    return write_end(rows, path, to.fd, 0, result);
  struct mprof_text t = MPROF_TEXT(by_option);
  const int error = mprof_path_base(by_option, sizeof(by_option));
  if (error != 0)
    return error;
  t.len = strlen(by_option);
  mprof_text_str(&t, ".trace");
  return write_end(rows, by_option, -1, 0, result);
}

int mprof_trace_out_open(const char *path, int fd) {
  return to.out ? 0 : open_out(path, fd);
}

int mprof_trace_out_snapshot(struct mprof_trace_row *rows, const char *path,
                             int fd, uint64_t from,
                             struct mprof_trace_result *result) {
  return write_end(rows, path, fd, from, result);
}

void mprof_trace_out_reset(void) {
  if (to.out)
    mprof_outfile_forget(to.out);
  to.out = NULL;
  to.writer = NULL;
  atomic_store(&to.user, NULL);
}

// --- a trace that the program reads in pieces ---
//
// The head of the file is the first piece, then there is one for each full
// buffer. The rest follows after the end of the session. mprof_trace_read waits
// until a piece is available. (Go: ReadTrace)

static struct {
  atomic_bool has_ended;
  // A futex that counts the events for which mprof_trace_read waits: each
  // buffer that became complete, and the end of the session.
  atomic_uint news;
  atomic_bool is_busy; // set during mprof_trace_read; guards the fields below
  struct mprof_trace_writer *writer;
  // After the end of the session: its rows. Each buffer is removed from its row
  // when it is written.
  struct mprof_trace_row *rest;
  uint64_t end_ticks; // end of the session
  bool has_tail;
  unsigned char *piece;
  size_t len, cap;
  int error;
} reader;

static void put_piece(void *arg, const void *data, size_t len) {
  (void)arg;
  if (reader.len + len > reader.cap) {
    size_t cap = reader.cap != 0 ? reader.cap : 2 * MPROF_TRACE_BUF_SIZE;
    while (cap < reader.len + len)
      cap *= 2;
    unsigned char *bigger = mprof_os_map(cap);
    if (!bigger) {
      reader.error = -ENOMEM;
      return;
    }
    if (reader.piece) {
      memcpy(bigger, reader.piece, reader.len);
      mprof_os_unmap(reader.piece, reader.cap);
    }
    reader.piece = bigger;
    reader.cap = cap;
  }
  memcpy(reader.piece + reader.len, data, len);
  reader.len += len;
}

// Called by the session, with trace_lock held.

void mprof_trace_reader_begin(void) {
  reader.rest = NULL;
  reader.has_tail = false;
  reader.error = 0;
  atomic_store(&reader.has_ended, false);
  mprof_trace_set_read(true);
}

void mprof_trace_reader_news(void) {
  atomic_fetch_add(&reader.news, 1);
  mprof_sys_futex_wake(&reader.news); // wakes the only reader
}

void mprof_trace_reader_end(struct mprof_trace_row *rows) {
  reader.rest = rows;
  reader.end_ticks = rows ? rows->end_ticks : 1;
  atomic_store(&reader.has_ended, true);
  mprof_trace_reader_news();
}

void mprof_trace_reader_reset(void) {
  mprof_trace_set_read(false);
  atomic_store(&reader.is_busy, false);
  reader.writer = NULL;
  reader.piece = NULL;
  reader.len = reader.cap = 0;
}

// Called by mprof_trace_read, with is_busy set.

// Creates a piece (the bytes for one call of mprof_trace_read) from the first
// complete buffer. Creates no piece if no buffer is complete.
static void put_full(void) {
  if (!mprof_trace_format_streams())
    return;
  struct mprof_trace_row *r;
  while (reader.len == 0 && (r = mprof_trace_buf_take_completed()) != NULL)
    write_first(reader.writer, r);
}

// Creates the next piece (the bytes for one call of mprof_trace_read) after the
// end of the session. The tail of the file is the last piece.
static void put_rest(void) {
  for (struct mprof_trace_row *r = reader.rest; r && reader.len == 0;
       r = r->next) {
    // A format may keep the events of a buffer for later, so that writing the
    // buffer creates no piece. In that case, the next buffer is written.
    while (r->first && reader.len == 0)
      write_first(reader.writer, r);
  }
  if (reader.len != 0 || reader.has_tail)
    return;
  reader.has_tail = true;
  mprof_trace_write_samples(reader.writer, reader.end_ticks);
  mprof_trace_write_tail(reader.writer, reader.end_ticks);
}

static void begin_reading(void) {
  const struct mprof_trace_sink sink = {put_piece, NULL};
  reader.writer =
      mprof_trace_writer_new(&sink, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
  if (!reader.writer)
    reader.error = -ENOMEM;
}

static void end_reading(void) {
  if (reader.writer)
    mprof_trace_writer_free(reader.writer);
  reader.writer = NULL;
  mprof_trace_forget(reader.rest);
  reader.rest = NULL;
  if (reader.piece)
    mprof_os_unmap(reader.piece, reader.cap);
  reader.piece = NULL;
  reader.len = reader.cap = 0;
  mprof_trace_set_read(false);
}

// Creates the next piece (the bytes for one call of mprof_trace_read). Returns
// false if the caller must wait for the next piece. Returns true if a piece was
// created, if the last piece was already created, or after an error.
static bool next_piece(void) {
  reader.len = 0;
  if (!reader.writer) {
    begin_reading();
  } else if (!atomic_load(&reader.has_ended)) {
    put_full();
  } else {
    mprof_lock_acquire(&mprof_writer_lock); // symbolizing needs this lock
    put_rest();
    mprof_lock_release(&mprof_writer_lock);
    return true;
  }
  return reader.len != 0 || reader.error != 0;
}

// Stores the address of the current piece in *data and returns the length of
// the piece. Returns 0 after the last piece, or -errno. Closes the reader after
// the last piece. Also closes the reader on an error, if the session has ended.
static ssize_t take_piece(const void **data) {
  int error = reader.error;
  if (error == 0 && reader.writer)
    error = reader.writer->error;
  *data = reader.piece;
  if (error == 0 && reader.len != 0)
    return (ssize_t)reader.len;
  if (error == 0 || atomic_load(&reader.has_ended)) {
    end_reading();
    *data = NULL;
  }
  return error;
}

// Tries to read a piece without waiting. Returns false if no piece is available
// yet. Otherwise *result is the result of mprof_trace_read.
static bool try_read(const void **data, ssize_t *result) {
  bool is_done = true;
  *result = -EBUSY;
  if (!mprof_guard_enter())
    return true;
  if (!mprof_trace_is_read())
    *result = -ESRCH;
  else if ((is_done = next_piece()))
    *result = take_piece(data);
  mprof_guard_leave();
  return is_done;
}

MPROF_PUBLIC ssize_t mprof_trace_read(const void **data) {
  ssize_t result;
  *data = NULL;
  if (!mprof_process_ready() || !mprof_process_is_own())
    return -ENOSYS;
  if (atomic_exchange(&reader.is_busy, true))
    return -EBUSY;
  unsigned news = atomic_load(&reader.news);
  while (!try_read(data, &result)) {
    mprof_sys_futex_wait(&reader.news, news);
    news = atomic_load(&reader.news);
  }
  atomic_store(&reader.is_busy, false);
  return result;
}
