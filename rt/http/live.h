// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replies of the HTTP server with data of the running program: profiles and
// traces. What these replies share comes first: the lock, the names of
// functions, errors, and the end of the process.

#ifndef MPROF_RT_HTTP_LIVE_H
#define MPROF_RT_HTTP_LIVE_H

#include "http/reply.h"
#include "write/profiles.h"

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
  struct mprof_reply_file trace;       // TRACE: the file of the session
  struct mprof_profile_request *last;  // SINCE: the copy to replace
};

enum { MPROF_CLIENT_NAME = 40 };

// What the query of a request asks for.
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
// Writes a profile of the events since the last complete reply to the same
// path, with the same client name of less than MPROF_CLIENT_NAME bytes. In a
// heap profile, the blocks in use are still those of the moment.
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

#endif // MPROF_RT_HTTP_LIVE_H
