// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replies with traces of the running program; see live_trace.h. (Go: Trace)

#include "http/live_trace.h"

#include "http/live.h"
#include "sys/tls.h"
#include "trace/trace.h"

#include <errno.h>

// The descriptor of the session that the HTTP server has begun, plus 1; 0:
// none.
static atomic_int session_fd;

// The file of the session of mprof_live_trace_start. Only the HTTP server's
// thread uses it.
static struct mprof_reply_file started = {.fd = MPROF_NO_FD};

// --- a session ---

static void refuse(struct mprof_reply *r, int error) {
  if (error == -EBUSY)
    mprof_reply_error(
        r, 500, "Could not enable tracing: tracing is already enabled", 0);
  else if (error == -ENOTSUP)
    mprof_reply_error(r, 404,
                      "Could not enable tracing: the program was linked "
                      "without it; link with -fmprof=trace",
                      0);
  else
    mprof_reply_error(r, 500, "Could not enable tracing", error);
}

bool mprof_live_trace_begin(struct mprof_reply_file *f, struct mprof_reply *r) {
  if (mprof_live_refuse_at_end(r))
    return false;
  int error = mprof_reply_file_open(f);
  if (error == 0)
    error = mprof_trace_begin_session(f->fd.fd);
  if (error == 0) {
    atomic_store(&session_fd, f->fd.fd + 1);
    // The process may have begun to end before it could see the session.
    if (!mprof_live_refuse_at_end(r))
      return true;
    mprof_live_trace_abandon(f);
    return false;
  }
  mprof_reply_file_close(f);
  refuse(r, error);
  return false;
}

// Ends the HTTP server's session that writes to fd, unless the program has
// already ended it. A session that another client has begun since goes on.
static int end(int fd, bool symbolizes) {
  struct mprof_trace_result unused = {0};
  int error = 0, number = fd + 1;
  mprof_live_lock(symbolizes);
  if (fd >= 0 && atomic_compare_exchange_strong(&session_fd, &number, 0) &&
      mprof_trace_has_session_of(fd))
    error = mprof_trace_finish_session(NULL, &unused);
  mprof_live_unlock();
  return error;
}

// Makes the file of a trace the reply, unless an error has occurred.
static void reply(struct mprof_reply_file *f, int error,
                  struct mprof_reply *r) {
  if (error == 0)
    error = mprof_reply_file_measure(f);
  if (error == 0) {
    r->body = *f;
    mprof_live_set_file_name(r, "trace", "");
  } else {
    mprof_reply_file_close(f);
    mprof_live_fail(r, error == -EPERM ? -EFBIG : error);
  }
  f->fd.fd = -1;
}

void mprof_live_trace_finish(struct mprof_reply_file *f,
                             struct mprof_reply *r) {
  reply(f, end(f->fd.fd, true), r);
}

void mprof_live_trace_abandon(struct mprof_reply_file *f) {
  end(f->fd.fd, false);
  mprof_reply_file_close(f);
}

// --- steered by the client ---

void mprof_live_trace_start(struct mprof_reply *r) {
  struct mprof_reply_file f;
  if (!mprof_live_trace_begin(&f, r))
    return;
  // The program itself may have ended the trace of an earlier call.
  mprof_reply_file_close(&started);
  started = f;
  mprof_reply_error(r, 200, "The trace has begun", 0);
  r->is_error = false;
}

void mprof_live_trace_stop(struct mprof_reply *r) {
  if (started.fd.fd < 0)
    mprof_reply_error(r, 409, "No trace was started here", 0);
  else if (!mprof_live_refuse_at_end(r))
    mprof_live_trace_finish(&started, r);
}

static int write_last(struct mprof_reply_file *f) {
  const int error = mprof_reply_file_open(f);
  if (error != 0)
    return error;
  mprof_live_lock(true);
  const int write_error = mprof_trace_snapshot_to(f->fd.fd);
  mprof_live_unlock();
  return write_error;
}

void mprof_live_trace_last(struct mprof_reply *r) {
  struct mprof_reply_file f;
  if (mprof_live_refuse_at_end(r))
    return;
  const int error = write_last(&f);
  if (error != -ESRCH && error != -ENOTSUP) {
    reply(&f, error, r);
    return;
  }
  mprof_reply_file_close(&f);
  mprof_reply_error(r, 404,
                    "The program runs without a flight recorder; start it with "
                    "MPROF_OPTIONS=trace_last=10s",
                    0);
}

// --- the end ---

void mprof_live_trace_forget(bool is_child) {
  if (!is_child && started.fd.fd >= 0)
    end(started.fd.fd, false);
  mprof_reply_file_close(&started);
  if (is_child)
    atomic_store(&session_fd, 0);
}

void mprof_live_trace_end(void) {
  // Otherwise the output at exit would contain the trace of a client.
  if (atomic_load(&session_fd) == 0 || !mprof_guard_enter())
    return;
  end(atomic_load(&session_fd) - 1, false);
  mprof_guard_leave();
}
