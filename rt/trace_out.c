// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a session's trace goes, and when. It stays in memory until that is half
// full; from then on whichever thread fills a buffer writes some of the oldest
// to the file before it goes on. The rest is written at the end, when all is
// quiet. So a wait's waker is nearly always still in memory when the thread
// that it woke signs.

#include "clock.h"
#include "write_trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// Buffers that a thread writes before it goes on with its own work.
enum { WRITTEN_AT_ONCE = 4 };

static struct {
  atomic_bool is_busy; // guards the rest while the session goes on
  int fd;              // of the program's; -1: path
  char path[MPROF_PATH_MAX];
  struct mprof_outfile *out; // NULL: nothing was written yet
  struct mprof_trace_writer *writer;
  int error;
} to;

void mprof_trace_write_begin(const char *path, int fd) {
  to.fd = fd;
  to.path[0] = '\0';
  if (path)
    strcpy(to.path, path);
  to.error = 0;
}

const char *mprof_trace_own_path(void) {
  return to.path[0] != '\0' ? to.path : NULL;
}

static void put(void *arg, const void *data, size_t len) {
  mprof_outfile_put(arg, data, len);
}

static int open_out(const char *path) {
  struct mprof_outfile *out = mprof_os_map(sizeof(*out));
  if (!out)
    return ENOMEM;
  const struct mprof_trace_sink sink = {put, out};
  int error = to.fd >= 0 ? mprof_outfile_open_fd(out, to.fd)
                         : mprof_outfile_open(out, path, false);
  if (error == 0) {
    to.writer =
        mprof_trace_writer_new(&sink, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    if (to.writer) {
      to.out = out;
      mprof_trace_write_head(to.writer);
      return 0;
    }
    error = out->error = ENOMEM;
    mprof_outfile_close(out);
  }
  mprof_os_unmap(out, sizeof(*out));
  return error;
}

// Takes a row's oldest buffer that is complete. Other threads only add to the
// row's end.
static bool write_one(struct mprof_trace_row *r) {
  struct mprof_trace_buf *b = r->first;
  struct mprof_trace_buf *next =
      b ? atomic_load_explicit(&b->next, memory_order_acquire) : NULL;
  if (!next)
    return false;
  mprof_trace_buf_seal(b);
  mprof_trace_write_batch(to.writer, r, b);
  r->first = next;
  atomic_store(&b->next, NULL);
  mprof_trace_buf_free(b);
  return true;
}

// A row at a time, so that all get on.
static bool write_some(struct mprof_trace_row *rows) {
  int n = 0;
  for (int before = -1; n < WRITTEN_AT_ONCE && n != before;) {
    before = n;
    for (struct mprof_trace_row *r = rows; r && n < WRITTEN_AT_ONCE;
         r = r->next)
      n += write_one(r);
  }
  return n != 0;
}

// A session of the option trace has its name at the end only: what is written
// before has one beside it.
#define PATH_SO_FAR "mprof.trace"

bool mprof_trace_write_some(struct mprof_trace_row *rows, bool waits) {
  bool has_written = false;
  while (atomic_exchange_explicit(&to.is_busy, true, memory_order_acquire)) {
    if (!waits)
      return true;
    mprof_sys_sleep_ms(1);
  }
  if (!to.out && to.error == 0)
    to.error = open_out(to.path[0] != '\0' ? to.path : PATH_SO_FAR);
  if (to.out && to.out->error == 0)
    has_written = write_some(rows);
  atomic_store_explicit(&to.is_busy, false, memory_order_release);
  return has_written;
}

static uint64_t frequency(void) {
  uint64_t f = mprof_clock_ticks_per_second() / MPROF_TRACE_TICK_DIV;
  return f != 0 ? f : 1;
}

static void write_rest(struct mprof_trace_row *rows) {
  uint64_t last_ticks = 1;
  for (struct mprof_trace_row *r = rows; r; r = r->next) {
    for (struct mprof_trace_buf *b = r->first; b; b = b->next) {
      mprof_trace_buf_seal(b);
      mprof_trace_write_batch(to.writer, r, b);
    }
    last_ticks = r->ticks > last_ticks ? r->ticks : last_ticks;
  }
  mprof_trace_write_tail(to.writer, last_ticks, frequency());
}

int mprof_trace_write_end(struct mprof_trace_row *rows, const char *path,
                          uint64_t *events) {
  if (to.path[0] != '\0')
    path = to.path;
  if (!to.out && (to.error = open_out(path)) != 0)
    return to.error;
  if (to.fd < 0)
    strcpy(to.out->path, path);
  write_rest(rows);
  *events = mprof_trace_writer_events(to.writer);
  const int own_error = mprof_trace_writer_error(to.writer);
  if (own_error != 0 && to.out->error == 0)
    to.out->error = own_error; // what is half written is no trace
  const int error = mprof_outfile_close(to.out);
  mprof_trace_writer_free(to.writer);
  mprof_os_unmap(to.out, sizeof(*to.out));
  to.writer = NULL;
  to.out = NULL;
  return error;
}

// What the parent's writer has is the parent's, its descriptor too.
void mprof_trace_write_reset(void) {
  if (to.out && !to.out->is_lent)
    mprof_sys_close(to.out->fd);
  to.out = NULL;
  to.writer = NULL;
  atomic_store(&to.is_busy, false);
}
