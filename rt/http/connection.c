// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads requests and sends replies; see http.h.

#include "http/http.h"

#include "sys/clock.h"
#include "sys/os.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum {
  // A request must arrive completely in this time.
  READ_MS = 5000,
  // A connection may stay open without a request for this time.
  IDLE_MS = 60000,
  // The client must accept some bytes of the reply in this time.
  STALL_MS = 10000,
  // It must accept the whole reply in WHOLE_MS and the time that its length
  // takes at BYTES_PER_MS.
  WHOLE_MS = 60000,
  BYTES_PER_MS = 16,
  DRAIN_MS = 1000,
  // While other clients wait, a client may make no progress for this time.
  SLOW_MS = 500,
  // Number of connections that may wait for a delta or a trace at the same
  // time, so that there is always room for short requests.
  WAITING_MAX = 8,
  BODY_MAX = 1 << 20, // maximum length of a request's body in bytes
  SEND_MAX = 1 << 20, // bytes to send before other connections have a turn
  DRAIN_BYTES = 4096,
};

static int waiting; // number of connections in the state WAITING

void mprof_connections_reset(void) { waiting = 0; }

static void set_state(struct mprof_connection *c,
                      enum mprof_connection_state state, int64_t ms) {
  c->state = state;
  c->moved_ms = mprof_clock_ms();
  c->deadline_ms = c->moved_ms + ms;
}

int64_t mprof_connection_expendable_ms(const struct mprof_connection *c) {
  switch (c->state) {
  case MPROF_CONN_FREE:
    return INT64_MIN;
  case MPROF_CONN_READING:
    return c->is_idle && c->has_served ? c->moved_ms : c->moved_ms + SLOW_MS;
  case MPROF_CONN_WRITING:
  case MPROF_CONN_DRAINING:
    return c->moved_ms + SLOW_MS;
  case MPROF_CONN_WAITING:
    break;
  }
  return INT64_MAX;
}

static void free_body(struct mprof_connection *c) {
  if (c->body != NULL)
    mprof_os_unmap(c->body, c->body_cap);
  c->body = NULL;
  c->body_len = c->body_cap = 0;
}

void mprof_connection_end(struct mprof_connection *c) {
  waiting -= c->state == MPROF_CONN_WAITING;
  mprof_job_abandon(&c->job);
  mprof_reply_drop(&c->reply);
  free_body(c);
  // A process that was forked without fork handlers may have a copy of the
  // descriptor, so that close alone would not end the connection.
  if (mprof_own_fd_is_open(&c->fd))
    mprof_sys_shutdown(c->fd.fd, SHUT_RDWR);
  mprof_own_fd_close(&c->fd);
  c->state = MPROF_CONN_FREE;
}

bool mprof_connection_begin(struct mprof_connection *c, long fd,
                            bool is_allowed, bool is_loopback) {
  if (mprof_own_fd_set(&c->fd, fd) != 0)
    return false;
  c->is_allowed = is_allowed;
  c->is_loopback = is_loopback;
  c->closes = c->has_request = c->wants_no_body = c->is_pending = false;
  c->has_served = false;
  c->is_idle = true;
  c->in_len = 0;
  c->body = NULL;
  c->job.kind = MPROF_JOB_NONE;
  mprof_reply_init(&c->reply);
  set_state(c, MPROF_CONN_READING, READ_MS);
  return true;
}

short mprof_connection_events(const struct mprof_connection *c) {
  switch (c->state) {
  case MPROF_CONN_READING:
  case MPROF_CONN_DRAINING:
    return POLLIN;
  case MPROF_CONN_WAITING:
    return POLLRDHUP; // the client has given up
  case MPROF_CONN_WRITING:
    return POLLOUT;
  case MPROF_CONN_FREE:
    break;
  }
  return 0;
}

// --- sending ---

static void begin_reply(struct mprof_connection *c) {
  struct mprof_text t = MPROF_TEXT(c->head);
  mprof_reply_put_head(&t, &c->reply, c->request.is_http_1_0, c->closes);
  c->head_len = t.len;
  c->head_sent = 0;
  c->body_sent = 0;
  set_state(c, MPROF_CONN_WRITING, STALL_MS);
  c->limit_ms = mprof_clock_ms() + WHOLE_MS +
                (int64_t)(mprof_reply_body_len(&c->reply) / BYTES_PER_MS);
}

// Sends a part of the reply. Returns the number of bytes, 0 at its end, or
// -errno.
static long send_part(struct mprof_connection *c) {
  if (c->head_sent < c->head_len) {
    const long n = mprof_sys_send(c->fd.fd, c->head + c->head_sent,
                                  c->head_len - c->head_sent);
    c->head_sent += n > 0 ? (size_t)n : 0;
    return n;
  }
  const uint64_t len = mprof_reply_body_len(&c->reply);
  if (c->wants_no_body || c->body_sent == len)
    return 0;
  uint64_t rest = len - c->body_sent;
  if (rest > SEND_MAX)
    rest = SEND_MAX;
  if (c->reply.body.fd.fd < 0) {
    const long n =
        mprof_sys_send(c->fd.fd, c->reply.text + c->body_sent, (size_t)rest);
    c->body_sent += n > 0 ? (uint64_t)n : 0;
    return n;
  }
  if (!mprof_own_fd_is_open(&c->reply.body.fd))
    return -EBADF;
  const long n = mprof_sys_send_file(c->fd.fd, c->reply.body.fd.fd,
                                     &c->body_sent, (size_t)rest);
  return n == 0 ? -EIO : n; // the file is shorter than its length
}

static void begin_draining(struct mprof_connection *c) {
  mprof_sys_shutdown(c->fd.fd, SHUT_WR);
  set_state(c, MPROF_CONN_DRAINING, DRAIN_MS);
}

static void end_reply(struct mprof_connection *c) {
  // The reply to HEAD has no body, so the client has not got the events.
  if (c->wants_no_body)
    mprof_job_abandon(&c->job);
  else
    mprof_job_commit(&c->job);
  mprof_reply_drop(&c->reply);
  mprof_reply_init(&c->reply);
  free_body(c);
  if (c->closes) {
    begin_draining(c);
    return;
  }
  c->is_idle = c->in_len == 0;
  c->is_pending = !c->is_idle;
  c->has_served = true;
  set_state(c, MPROF_CONN_READING, c->is_idle ? IDLE_MS : READ_MS);
}

static void write_more(struct mprof_connection *c) {
  long n = 1;
  for (long sent = 0; n > 0 && sent < SEND_MAX; sent += n) {
    n = send_part(c);
    if (n > 0) {
      c->moved_ms = mprof_clock_ms();
      c->deadline_ms = c->moved_ms + STALL_MS;
    }
    if (c->deadline_ms > c->limit_ms)
      c->deadline_ms = c->limit_ms;
  }
  if (n == 0)
    end_reply(c);
  else if (n < 0 && n != -EAGAIN && n != -EINTR)
    mprof_connection_end(c); // the client is gone
}

// --- requests ---

// Replies with an error after which the position of the next request is
// unknown.
static void reply_last(struct mprof_connection *c, int status,
                       const char *what) {
  mprof_reply_error(&c->reply, status, what, 0);
  c->reply.is_error = false;
  c->closes = true;
  c->in_len = 0;
  begin_reply(c);
}

static void reply_bad_head(struct mprof_connection *c, int status) {
  reply_last(c, status,
             status == 431   ? "431 Request Header Fields Too Large"
             : status == 501 ? "501 Unsupported transfer encoding"
             : status == 505 ? "505 HTTP Version Not Supported"
                             : "400 Bad Request");
}

// Removes the first n bytes of the input.
static void take_input(struct mprof_connection *c, size_t n) {
  memmove(c->in, c->in + n, c->in_len - n);
  c->in_len -= n;
}

// Answers the request, whose body has arrived.
static void answer(struct mprof_connection *c) {
  c->has_request = false;
  c->wants_no_body = c->request.method == MPROF_HTTP_HEAD;
  c->closes = !c->request.keeps_connection;
  if (!c->is_allowed)
    mprof_reply_error(&c->reply, 403,
                      "Only the user of the process and root may connect", 0);
  else
    mprof_page(&c->request, c->body != NULL ? c->body : "", c->body_len,
               c->is_loopback, &c->reply, &c->job);
  // The path of the request lies in the input, so the input is removed last.
  take_input(c, c->request.head_len);
  if (c->job.kind != MPROF_JOB_DELTA && c->job.kind != MPROF_JOB_TRACE) {
    begin_reply(c);
  } else if (waiting == WAITING_MAX) {
    mprof_job_abandon(&c->job);
    mprof_reply_error(&c->reply, 503, "Too many clients wait for profiles", 0);
    begin_reply(c);
  } else {
    waiting++;
    set_state(c, MPROF_CONN_WAITING, c->job.ms);
  }
}

// Prepares for the body of the request. Returns false after an error reply.
static bool begin_body(struct mprof_connection *c) {
  const struct mprof_http_request *q = &c->request;
  if (q->body_len > BODY_MAX) {
    reply_last(c, 413, "413 Request Entity Too Large");
    return false;
  }
  if (q->body_len == 0)
    return true;
  c->body_cap = (size_t)q->body_len;
  c->body = mprof_os_map(c->body_cap);
  if (c->body == NULL) {
    reply_last(c, 503, "503 Out of memory");
    return false;
  }
  static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
  if (q->expects_continue && c->in_len == q->head_len)
    mprof_sys_send(c->fd.fd, go_on, sizeof(go_on) - 1);
  return true;
}

// Moves the bytes of the body from the input, behind the head, to c->body.
static void take_body(struct mprof_connection *c) {
  const size_t head = c->request.head_len;
  size_t n = c->in_len - head;
  if (n > c->body_cap - c->body_len)
    n = c->body_cap - c->body_len;
  if (n == 0)
    return;
  memcpy(c->body + c->body_len, c->in + head, n);
  c->body_len += n;
  memmove(c->in + head, c->in + head + n, c->in_len - head - n);
  c->in_len -= n;
}

// Handles the input that has arrived.
static void handle_input(struct mprof_connection *c) {
  if (!c->has_request) {
    const int status = mprof_http_parse(c->in, c->in_len, &c->request);
    if (status == 0)
      return;
    if (status != MPROF_HTTP_OK) {
      reply_bad_head(c, status);
      return;
    }
    c->has_request = true;
    if (!begin_body(c))
      return;
  }
  take_body(c);
  if (c->body_len == c->request.body_len)
    answer(c);
}

static void read_more(struct mprof_connection *c) {
  const size_t room = sizeof(c->in) - c->in_len;
  const long n = mprof_sys_receive(c->fd.fd, c->in + c->in_len, room);
  if (n == -EAGAIN || n == -EINTR)
    return;
  if (n <= 0) {
    mprof_connection_end(c);
    return;
  }
  c->in_len += (size_t)n;
  if (c->is_idle) {
    c->is_idle = false;
    c->deadline_ms = mprof_clock_ms() + READ_MS;
  }
  handle_input(c);
}

static void drain(struct mprof_connection *c) {
  char unused[DRAIN_BYTES];
  const long n = mprof_sys_receive(c->fd.fd, unused, sizeof(unused));
  if (n <= 0 && n != -EAGAIN && n != -EINTR)
    mprof_connection_end(c);
}

// --- deadlines ---

static void pass_deadline(struct mprof_connection *c) {
  if (c->state == MPROF_CONN_WAITING) {
    waiting--;
    mprof_job_finish(&c->job, &c->reply);
    begin_reply(c);
  } else {
    mprof_connection_end(c);
  }
}

static void handle_events(struct mprof_connection *c, short events) {
  switch (c->state) {
  case MPROF_CONN_READING:
    read_more(c);
    break;
  case MPROF_CONN_DRAINING:
    drain(c);
    break;
  case MPROF_CONN_WRITING:
    write_more(c);
    break;
  case MPROF_CONN_WAITING:
    if ((events & (POLLRDHUP | POLLHUP | POLLERR)) != 0)
      mprof_connection_end(c);
    break;
  case MPROF_CONN_FREE:
    break;
  }
}

void mprof_connection_continue(struct mprof_connection *c, short events) {
  if (c->state == MPROF_CONN_FREE)
    return;
  if (!mprof_own_fd_is_open(&c->fd)) {
    mprof_connection_end(c);
    return;
  }
  if (events != 0)
    handle_events(c, events);
  if (c->state != MPROF_CONN_FREE && mprof_clock_ms() >= c->deadline_ms)
    pass_deadline(c);
  // One request at a time, so that the other connections have their turn.
  if (c->state == MPROF_CONN_READING && c->is_pending) {
    c->is_pending = false;
    handle_input(c);
  }
  if (c->state == MPROF_CONN_WRITING && c->head_sent == 0)
    write_more(c);
}
