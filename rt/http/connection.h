// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A connection of the HTTP server to a client. Its descriptor never blocks:
// whenever the client is slow, the connection waits in the HTTP server's poll,
// until its deadline. Only the HTTP server's thread uses connections.
//
//   READING --the request has arrived--> page --> WRITING --> READING
//                                          |         ^  |
//                                          v         |  v
//                                         WAITING ---+  DRAINING --> FREE
//
// READING   receives a request, or waits for the next one
// WAITING   the reply needs the events of the next seconds
// WRITING   sends the reply
// DRAINING  the reply was sent, and the connection ends. What the client still
//           sends is read, because the kernel would otherwise tell the client
//           that the connection was reset, and the client could lose the reply

#ifndef MPROF_RT_HTTP_CONNECTION_H
#define MPROF_RT_HTTP_CONNECTION_H

#include "http/page.h"

#include <poll.h>

enum mprof_connection_state {
  MPROF_CONN_FREE,
  MPROF_CONN_READING,
  MPROF_CONN_WAITING,
  MPROF_CONN_WRITING,
  MPROF_CONN_DRAINING
};

enum { MPROF_CONN_HEAD = 1024, MPROF_CONN_REST = 512 };

struct mprof_connection {
  enum mprof_connection_state state;
  struct mprof_own_fd fd;
  bool is_allowed;     // the client may read profiles
  bool is_loopback;    // see mprof_page
  bool closes;         // the connection ends after the reply
  bool is_idle;        // READING, and no byte of a request has arrived
  bool has_served;     // a request was answered
  bool wants_no_body;  // the method of the request is HEAD
  bool has_request;    // READING: the head was parsed, the body is missing
  bool is_pending;     // READING: `in` has bytes that were not parsed yet
  int64_t deadline_ms; // time (CLOCK_MONOTONIC) when the state ends
  int64_t moved_ms;    // time when the client last made progress
  int64_t limit_ms;    // WRITING: time when the reply must be sent
  struct mprof_http_request request;
  struct mprof_reply reply;
  struct mprof_job job;
  char *body; // the body of a POST request; NULL: none
  size_t body_len, body_cap;
  size_t head_len, head_sent;
  uint64_t body_sent;
  size_t in_len;
  char head[MPROF_CONN_HEAD]; // status line and headers of the reply
  // A part of the body may follow the head. take_body moves it to `body`.
  char in[MPROF_HTTP_HEAD_MAX + MPROF_CONN_REST];
};

// Begins a connection with the descriptor fd, which an accept has returned.
// Closes fd and returns false if it cannot be used.
bool mprof_connection_begin(struct mprof_connection *c, long fd,
                            bool is_allowed, bool is_loopback);
// Returns the events of poll for which the connection waits.
short mprof_connection_events(const struct mprof_connection *c);
// Returns the time from which the connection may be ended if another client
// needs its place, because the client is idle or slow. Returns INT64_MAX if the
// connection must be kept.
int64_t mprof_connection_expendable_ms(const struct mprof_connection *c);
// Continues after poll has returned these events; 0: only the deadline may have
// passed.
void mprof_connection_continue(struct mprof_connection *c, short events);
// Called in a forked child, which has none of its parent's connections.
void mprof_connections_reset(void);
// Ends a connection at once.
void mprof_connection_end(struct mprof_connection *c);

#endif // MPROF_RT_HTTP_CONNECTION_H
