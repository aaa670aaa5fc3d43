// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files in memory that hold the body of a reply; see live_file.h.

#include "http/reply_file.h"

#include "file/outfile.h"
#include "sys/clock.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"

#include <errno.h>

int mprof_reply_file_open(struct mprof_reply_file *f) {
  f->len = 0;
  return mprof_own_fd_set(
      &f->fd, mprof_sys_memory_file("mprof-http", MPROF_REPLY_FILE_MAX));
}

void mprof_reply_file_close(struct mprof_reply_file *f) {
  mprof_own_fd_close(&f->fd);
}

int mprof_reply_file_measure(struct mprof_reply_file *f) {
  if (!mprof_own_fd_is_open(&f->fd))
    return -EBADF;
  const long n = mprof_sys_position(f->fd.fd);
  f->len = n > 0 ? (uint64_t)n : 0;
  return n < 0 ? (int)n : 0;
}

// --- pace ---
//
// A profile with names takes some milliseconds of processor time. On a busy
// machine all of it would be added to the requests that the program serves at
// this moment. So the HTTP server works in short pieces, with longer pauses
// between them. A thread that waits for writer_lock, for example at exit, waits
// longer because of the pauses, so there are none after mprof_reply_file_hurry.

enum {
  PIECE_BYTES = 4096, // about 0.1 ms of work
  PAUSE_FACTOR = 3,   // the pauses take this many times as long as the work
  PAUSE_MAX_MS = 4,
  PAUSES_MAX = 250, // in one file, so that a large file takes no minutes
};

static atomic_bool hurries;
static struct {
  uint64_t worked_from; // end of the last pause, in ticks
  unsigned pauses;
} pace; // used by the HTTP server's thread only

void mprof_reply_file_hurry(bool does) { atomic_store(&hurries, does); }

static void begin_pace(void) {
  pace.pauses = 0;
  pace.worked_from = mprof_clock_now();
}

static void take_pause(void) {
  const uint64_t ns = mprof_clock_ns(mprof_clock_now() - pace.worked_from);
  if (atomic_load(&hurries) || pace.pauses == PAUSES_MAX)
    return;
  const uint64_t ms = PAUSE_FACTOR * ns / 1000000;
  if (ms == 0)
    return;
  mprof_sys_sleep_ms(ms < PAUSE_MAX_MS ? (unsigned)ms : PAUSE_MAX_MS);
  pace.pauses++;
  pace.worked_from = mprof_clock_now();
}

// --- files ---

// Opens `out` on f's descriptor, and calls write.
static int fill(struct mprof_reply_file *f, struct mprof_outfile *out,
                bool gzip, int (*write)(struct mprof_outfile *out, void *arg),
                void *arg) {
  int error = mprof_outfile_open_fd(out, f->fd.fd, 0);
  if (error != 0)
    return error;
  begin_pace();
  mprof_outfile_set_pieces(out, PIECE_BYTES, take_pause);
  if (gzip)
    mprof_outfile_make_gzip(out);
  mprof_outfile_fail(out, write(out, arg));
  error = mprof_outfile_close(out);
  f->len = out->written;
  return error == -EPERM ? -EFBIG : error; // the file is sealed at its size
}

int mprof_reply_file_write(struct mprof_reply_file *f, bool gzip,
                           int (*write)(struct mprof_outfile *out, void *arg),
                           void *arg) {
  struct mprof_outfile *out = mprof_os_map(sizeof(*out));
  if (out == NULL)
    return -ENOMEM;
  int error = mprof_reply_file_open(f);
  if (error == 0)
    error = fill(f, out, gzip, write, arg);
  if (error != 0)
    mprof_reply_file_close(f);
  mprof_os_unmap(out, sizeof(*out));
  return error;
}
