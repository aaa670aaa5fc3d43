// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes replies and their bodies; see http.h.

#include "http/http.h"

#include "file/outfile.h"
#include "sys/base.h"
#include "sys/clock.h"
#include "sys/os.h"

#include <errno.h>
#include <string.h>

// --- files in memory ---

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

// --- replies ---

void mprof_reply_init(struct mprof_reply *r) {
  memset(r, 0, sizeof(*r));
  r->status = 200;
  r->type = MPROF_TYPE_TEXT;
  r->body.fd.fd = -1;
}

void mprof_reply_drop(struct mprof_reply *r) {
  mprof_reply_file_close(&r->body);
}

void mprof_reply_error(struct mprof_reply *r, int status, const char *what,
                       int error) {
  mprof_reply_drop(r);
  mprof_reply_init(r);
  r->status = status;
  r->is_error = true;
  struct mprof_text t = MPROF_TEXT(r->text);
  mprof_text_str(&t, what);
  if (error != 0) {
    mprof_text_str(&t, ": ");
    mprof_text_errno(&t, error);
  }
  mprof_text_str(&t, "\n");
}

uint64_t mprof_reply_body_len(const struct mprof_reply *r) {
  return r->body.fd.fd >= 0 ? r->body.len : strlen(r->text);
}

static void put_header(struct mprof_text *t, const char *name,
                       const char *value) {
  mprof_text_str(t, name);
  mprof_text_str(t, ": ");
  mprof_text_str(t, value);
  mprof_text_str(t, "\r\n");
}

static void put_date(struct mprof_text *t) {
  static const char days[] = "ThuFriSatSunMonTueWed"; // from 1970-01-01 on
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  char utc[32]; // 2026-11-23 18:30:03 UTC
  struct mprof_text u = MPROF_TEXT(utc);
  const int64_t now = mprof_sys_realtime_ns();
  mprof_text_utc(&u, now, false);
  const int64_t day = now / 1000000000 / 86400 % 7;
  const int month = (utc[5] - '0') * 10 + utc[6] - '0';
  mprof_text_str(t, "Date: ");
  mprof_text_mem(t, days + 3 * day, 3);
  mprof_text_str(t, ", ");
  mprof_text_mem(t, utc + 8, 2);
  mprof_text_str(t, " ");
  mprof_text_mem(t, months + 3 * (month - 1), 3);
  mprof_text_str(t, " ");
  mprof_text_mem(t, utc, 4);
  mprof_text_mem(t, utc + 10, 9);
  mprof_text_str(t, " GMT\r\n");
}

void mprof_reply_put_head(struct mprof_text *t, const struct mprof_reply *r,
                          bool is_http_1_0, bool closes) {
  mprof_text_str(t, "HTTP/1.1 ");
  mprof_text_dec(t, (uint64_t)r->status);
  mprof_text_str(t, " ");
  mprof_text_str(t, mprof_http_status_text(r->status));
  mprof_text_str(t, "\r\n");
  put_header(t, "Content-Type", r->type);
  put_header(t, "X-Content-Type-Options", "nosniff");
  put_header(t, "X-Frame-Options", "DENY");
  put_header(t, "Content-Security-Policy", "frame-ancestors 'none'");
  put_header(t, "Server", "MProf/" MPROF_VERSION);
  if (r->is_error)
    put_header(t, "X-Go-Pprof", "1");
  if (r->allow != NULL)
    put_header(t, "Allow", r->allow);
  if (r->location != NULL)
    put_header(t, "Location", r->location);
  if (r->file_name[0] != '\0') {
    mprof_text_str(t, "Content-Disposition: attachment; filename=\"");
    mprof_text_str(t, r->file_name);
    mprof_text_str(t, "\"\r\n");
  }
  put_date(t);
  mprof_text_str(t, "Content-Length: ");
  mprof_text_dec(t, mprof_reply_body_len(r));
  mprof_text_str(t, "\r\n");
  if (closes || is_http_1_0)
    put_header(t, "Connection", closes ? "close" : "keep-alive");
  mprof_text_str(t, "\r\n");
}
