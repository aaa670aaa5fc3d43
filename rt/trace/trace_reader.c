// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives the trace to the program in pieces: the head of the file, then a batch
// for each full buffer. The rest follows after the end of the session.
// mprof_trace_read waits until a piece is available. (Go: ReadTrace)

#include "trace/trace_reader.h"

#include "file/writer_lock.h"
#include "process/process.h"
#include "sys/lock.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "sys/tls.h"
#include "trace/trace_buf.h"
#include "trace/trace_formats.h"
#include "trace/trace_out.h"
#include "trace/trace_records.h"
#include "trace/trace_rows.h"
#include "trace/trace_types.h"
#include "trace/write_trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct {
  atomic_bool has_ended;
  // A futex that counts the events for which mprof_trace_read waits: each
  // buffer that became complete, and the end of the session.
  atomic_uint news;
  atomic_bool is_busy; // set during mprof_trace_read; guards the fields below
  struct mprof_trace_writer *writer;
  // After the end of the session: the list of its rows (lists of record
  // buffers). Each buffer is removed from its row when it is written.
  struct mprof_trace_row *rest;
  uint64_t end_ticks; // end of the session
  bool has_tail;
  unsigned char *piece;
  size_t len, cap;
  int error;
} reader;

static void put(void *arg, const void *data, size_t len) {
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

// --- called by the session, with trace_lock held ---

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

// --- called by the reader, with is_busy set ---

// Creates a piece (the bytes for one call of mprof_trace_read) from the first
// complete buffer. Creates no piece if no buffer is complete.
static void write_full(void) {
  if (!mprof_trace_format_streams())
    return;
  struct mprof_trace_row *r;
  while (reader.len == 0 && (r = mprof_trace_buf_take_completed()) != NULL)
    mprof_trace_write_first(reader.writer, r);
}

// Creates the next piece (the bytes for one call of mprof_trace_read) after the
// end of the session. The tail of the file is the last piece.
static void write_rest(void) {
  for (struct mprof_trace_row *r = reader.rest; r && reader.len == 0;
       r = r->next) {
    // A format may keep the events of a buffer for later, so that writing the
    // buffer creates no piece. In that case, the next buffer is written.
    while (r->first && reader.len == 0)
      mprof_trace_write_first(reader.writer, r);
  }
  if (reader.len != 0 || reader.has_tail)
    return;
  reader.has_tail = true;
  mprof_trace_write_tail(reader.writer, reader.end_ticks);
}

static void begin(void) {
  const struct mprof_trace_sink sink = {put, NULL};
  reader.writer =
      mprof_trace_writer_new(mprof_trace_format_chosen(), &sink,
                             (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
  if (reader.writer)
    mprof_trace_write_head(reader.writer);
  else
    reader.error = -ENOMEM;
}

static void finish(void) {
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
static bool next(void) {
  reader.len = 0;
  if (!reader.writer) {
    begin();
  } else if (!atomic_load(&reader.has_ended)) {
    write_full();
  } else {
    mprof_lock_acquire(&mprof_writer_lock); // symbolizing needs this lock
    write_rest();
    mprof_lock_release(&mprof_writer_lock);
    return true;
  }
  return reader.len != 0 || reader.error != 0;
}

// Stores the address of the current piece in *data and returns the length of
// the piece. Returns 0 after the last piece, or -errno. Closes the reader after
// the last piece. Also closes the reader on an error, if the session has ended.
static ssize_t take(const void **data) {
  int error = reader.error;
  if (error == 0 && reader.writer)
    error = mprof_trace_writer_error(reader.writer);
  *data = reader.piece;
  if (error == 0 && reader.len != 0)
    return (ssize_t)reader.len;
  if (error == 0 || atomic_load(&reader.has_ended)) {
    finish();
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
  else if ((is_done = next()))
    *result = take(data);
  mprof_guard_leave();
  return is_done;
}

MPROF_PUBLIC ssize_t mprof_trace_read(const void **data) {
  ssize_t result;
  *data = NULL;
  if (!mprof_init_ready() || !mprof_process_is_own())
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
