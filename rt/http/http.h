// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The HTTP server, from a connection to the reply: the server accepts
// connections (listener.c), reads a request (connection.c), finds its page
// (page.c), and makes a reply (reply.c), which may be a profile of the running
// program (live.c).

#ifndef MPROF_RT_HTTP_HTTP_H
#define MPROF_RT_HTTP_HTTP_H

#include "file/outfile.h"
#include "http/http_request.h"
#include "sys/message.h"
#include "write/profiles.h"

#include <poll.h>

// --- replies (reply.c) ---
//
// A reply consists of status, headers and body. A body is either a short
// constant text or a file in memory.

// --- files in memory ---
//
// They hold the body of a reply. A profile is written to such a file first, so
// that a client that reads slowly holds no lock of the runtime, and so that the
// length of the reply is known before its first byte is sent.

struct mprof_outfile;

// Maximum size of a file in bytes.
#define MPROF_REPLY_FILE_MAX (UINT64_C(256) << 20)

struct mprof_reply_file {
  struct mprof_own_fd fd;
  uint64_t len;
};
// Sets whether files are written without the pauses that leave the processor to
// the program.
void mprof_reply_file_hurry(bool does);
// Creates an empty file. Returns 0 or -errno.
int mprof_reply_file_open(struct mprof_reply_file *f);
// Creates a file and calls write(out, arg) to fill it. Returns 0 or -errno;
// after an error there is no file. Returns -EFBIG if the file would exceed
// MPROF_REPLY_FILE_MAX. gzip: the file is in gzip format.
int mprof_reply_file_write(struct mprof_reply_file *f, bool gzip,
                           int (*write)(struct mprof_outfile *out, void *arg),
                           void *arg);
// Sets f->len to the position up to which the file was written.
int mprof_reply_file_measure(struct mprof_reply_file *f);
void mprof_reply_file_close(struct mprof_reply_file *f);

// --- replies ---

#define MPROF_TYPE_TEXT "text/plain; charset=utf-8"
#define MPROF_TYPE_HTML "text/html; charset=utf-8"
#define MPROF_TYPE_BYTES "application/octet-stream"

enum { MPROF_REPLY_TEXT = 256 };

struct mprof_reply {
  int status;
  const char *type;             // Content-Type
  const char *allow;            // methods, for status 405; NULL: none
  const char *location;         // for status 301; NULL: none
  char file_name[96];           // name for the client's file; "": none
  bool is_error;                // the body is an error text of the profiler
  char text[MPROF_REPLY_TEXT];  // the body if there is no file
  struct mprof_reply_file body; // the body; fd.fd -1: `text` is the body
};

// Makes *r an empty reply with status 200.
void mprof_reply_init(struct mprof_reply *r);
// Makes *r an error. Drops a body that was set before.
// what: a sentence, which becomes the body; a line feed is added.
// error: -errno, whose text is appended to the sentence; 0: none.
void mprof_reply_error(struct mprof_reply *r, int status, const char *what,
                       int error);
// Appends the status line and the headers to t.
// closes: the connection ends after the reply.
void mprof_reply_put_head(struct mprof_text *t, const struct mprof_reply *r,
                          bool is_http_1_0, bool closes);
// Returns the length of the body in bytes.
uint64_t mprof_reply_body_len(const struct mprof_reply *r);
// Closes the file of the body.
void mprof_reply_drop(struct mprof_reply *r);

// --- the running program (live.c) ---
//
// Replies of the HTTP server with data of the running program: profiles and
// traces. What these replies share comes first: the lock, the names of
// functions, errors, and the end of the process.

// Called when the HTTP server opens: prepares for a chroot of the program.
// Takes writer_lock.
void mprof_live_begin(void);
// Called when the HTTP server shuts: frees what mprof_live_begin and the
// requests have kept. Takes writer_lock.
void mprof_live_finish(void);
// Takes writer_lock, and prepares for a profile or a trace. symbolizes: whether
// addresses get the names of functions.
void mprof_live_lock(bool symbolizes);
void mprof_live_unlock(void);

// Makes the reply the error for -errno.
void mprof_live_fail(struct mprof_reply *r, int error);
// Makes the reply an error and returns true if the process has begun to write
// its profiles at exit.
bool mprof_live_refuse_at_end(struct mprof_reply *r);
// Makes the reply a file with this name for the client.
void mprof_live_set_file_name(struct mprof_reply *r, const char *name,
                              const char *suffix);

// Sets whether the process has begun to write its profiles at exit.
void mprof_live_set_end(bool has_ended);

// Returns the time in milliseconds of mprof_clock_ms at which mprof_live_idle
// must be called if no request comes; INT64_MAX: never.
int64_t mprof_live_idle_ms(void);
// Ends what was kept for the next request: the process that gives names. Takes
// writer_lock.
void mprof_live_idle(void);
// Forgets that process in a forked child.
void mprof_live_forget_names(void);

// --- traces ---
//
// At most one trace of the HTTP server runs at a time.

// Begins a trace that is written to a new file in memory. Returns false after
// an error, which becomes the reply.
bool mprof_live_trace_begin(struct mprof_reply_file *f, struct mprof_reply *r);
// Ends the trace. Its file becomes the reply.
void mprof_live_trace_finish(struct mprof_reply_file *f, struct mprof_reply *r);
// Ends the trace without a reply, because the client is gone.
void mprof_live_trace_abandon(struct mprof_reply_file *f);

// Begins a trace that ends at mprof_live_trace_stop, or at the end of the
// process.
void mprof_live_trace_start(struct mprof_reply *r);
// Replies with the trace that mprof_live_trace_start has begun.
void mprof_live_trace_stop(struct mprof_reply *r);
// Replies with the newest part of the trace of a flight recorder, which goes
// on.
void mprof_live_trace_last(struct mprof_reply *r);

// Closes the file of mprof_live_trace_start. is_child: the session belongs to
// the parent of this process.
void mprof_live_trace_forget(bool is_child);
// Ends the HTTP server's trace, because the process has begun to write its
// profiles.
void mprof_live_trace_end(void);

// --- profiles ---
//
// Profiles of the running program, and the requests whose reply needs some
// time.

enum mprof_job_kind {
  MPROF_JOB_NONE,
  MPROF_JOB_DELTA, // a profile of the events between now and later
  MPROF_JOB_TRACE, // an execution trace from now until later
  // A profile of the events since the last reply to the same path. The reply is
  // complete. If the client gets all of it, the next one begins here.
  MPROF_JOB_SINCE
};

// The part of a request that cannot be answered at once.
struct mprof_job {
  enum mprof_job_kind kind;
  int64_t ms; // how long to wait before mprof_job_finish
  const char *name;
  bool symbolizes;
  struct mprof_profile_request before; // DELTA: the copy of the begin
  // DELTA: session of the CPU profile that ends with the job; 0: none.
  unsigned cpu_session;
  struct mprof_reply_file trace;      // TRACE: the file of the session
  struct mprof_profile_request *last; // SINCE: the copy to replace
};

enum { MPROF_CLIENT_NAME = 40 };

// The profile that the query of a request asks for.
struct mprof_profile_wish {
  const char *name;
  int debug;       // parameter debug; 0: pprof protobuf
  bool symbolizes; // whether addresses get the names of functions
  bool ends_cycle; // parameter gc
};

// Writes the profile w->name to the body of the reply, or makes the reply an
// error. Takes writer_lock.
void mprof_live_profile(const struct mprof_profile_wish *w,
                        struct mprof_reply *r);
// Begins a profile of the events of the next `seconds` seconds.
void mprof_live_delta(const struct mprof_profile_wish *w, int64_t seconds,
                      struct mprof_reply *r, struct mprof_job *j);
// Begins a CPU profile of that many milliseconds.
void mprof_live_cpu(int64_t ms, bool symbolizes, struct mprof_reply *r,
                    struct mprof_job *j);
// Returns the profile NAME if the page is delta_NAME and has differences since
// the last reply; otherwise NULL.
const char *mprof_live_since_name(const char *page);
// Writes a profile of the events since the last complete reply to the same
// path, with the same client name of less than MPROF_CLIENT_NAME bytes. In a
// heap profile, the blocks in use are still those of the moment. w->name: a
// result of mprof_live_since_name.
void mprof_live_since(const struct mprof_profile_wish *w, const char *client,
                      struct mprof_reply *r, struct mprof_job *j);

// Begins an execution trace of that many milliseconds.
void mprof_job_begin_trace(int64_t ms, struct mprof_reply *r,
                           struct mprof_job *j);
// Makes the reply after the wait. Ends the job of kind DELTA or TRACE.
void mprof_job_finish(struct mprof_job *j, struct mprof_reply *r);
// Called when the reply of a job of kind SINCE was sent completely. Ends it.
void mprof_job_commit(struct mprof_job *j);
// Ends a job without a reply, because the client is gone.
void mprof_job_abandon(struct mprof_job *j);
// Forgets the copies of mprof_live_since. They are not freed if the process is
// a forked child, in which they may be incomplete.
void mprof_live_forget(bool is_child);

// --- pages (page.c) ---
//
// The pages of the HTTP server: finds the page of a request and makes the
// reply. The paths, parameters, status codes and texts are those of Go's
// net/http/pprof.

// Makes the reply to a request, or begins to wait if the reply needs events of
// the future (j->kind is then not MPROF_JOB_NONE). In that case, the caller
// calls mprof_job_finish or mprof_job_abandon later.
// body: the len bytes of the request's body.
// is_loopback: the client used a TCP address that only this machine can reach.
void mprof_page(const struct mprof_http_request *q, const char *body,
                size_t len, bool is_loopback, struct mprof_reply *r,
                struct mprof_job *j);
// Returns whether the request may have a body, which the page reads.
bool mprof_page_reads_body(const struct mprof_http_request *q);

// --- pages of options ---
//
// The pages of the HTTP server that show and change the options of the running
// program: GET /debug/mprof/get and POST /debug/mprof/set.

// Replies with a line "NAME=VALUE" for each option, or for the option that the
// parameter `name` gives. Takes writer_lock.
void mprof_steer_get(struct mprof_http_text query, struct mprof_reply *r);
// Changes the option that the query NAME=VALUE gives, and replies with its
// line. Takes writer_lock.
void mprof_steer_set(struct mprof_http_text query, struct mprof_reply *r);

// --- the listening socket (listener.c) ---
//
// The socket at which the HTTP server (server.h) accepts connections.

struct mprof_listener {
  struct mprof_own_fd fd;
  bool is_unix;
  bool is_loopback; // a TCP address that only this machine can reach
  bool has_pid;     // the path of the Unix socket contains the pattern %p
  // A Unix socket: its path, and the device and inode number of the file at the
  // path. The program may replace the file, and the file is then not removed.
  char path[MPROF_PATH_MAX];
  uint64_t path_dev, path_ino;
  unsigned short port;       // TCP: the port, never 0 after mprof_listener_open
  char name[MPROF_PATH_MAX]; // the address as text, for messages
};

// Opens the socket at `address`: "unix:PATTERN" with a path as in log_path, or
// an IPv4 or IPv6 address and a port, such as "127.0.0.1:6060" or "[::1]:6060".
// Port 0 chooses a free port. Prints the reason of an error on stderr.
// Returns 0 or -errno.
int mprof_listener_open(struct mprof_listener *l, const char *address);
// Opens the socket anew at the same address, because the program has closed its
// descriptor. Prints no message. Returns 0 or -errno.
int mprof_listener_reopen(struct mprof_listener *l);
// Accepts a connection. Sets *is_allowed to whether the client may read
// profiles: at a Unix socket, it must run as root or as the same user as this
// process. Returns the descriptor, which never blocks, or -errno. Returns
// -EBADF if the program has closed the descriptor.
long mprof_listener_accept(struct mprof_listener *l, bool *is_allowed);
// Removes the file of the Unix socket, unless the file was replaced.
void mprof_listener_remove_path(struct mprof_listener *l);
// The file of the Unix socket of another process.
struct mprof_listener_file {
  char path[108]; // "": none (Linux: sun_path)
  uint64_t dev, ino;
};
// Returns the file of the Unix socket of l, or none.
struct mprof_listener_file mprof_listener_file(const struct mprof_listener *l);
// Removes the file if the process that listened there has ended. Returns false
// if it still listens.
bool mprof_listener_remove_dead(const struct mprof_listener_file *f);
// Closes the descriptor. Does not remove the file of the Unix socket.
void mprof_listener_close(struct mprof_listener *l);

// --- connections (connection.c) ---
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

#endif // MPROF_RT_HTTP_HTTP_H
