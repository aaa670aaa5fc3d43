// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replies of the HTTP server that contain a profile of the running program, and
// the requests whose reply needs some time.

#ifndef MPROF_RT_HTTP_LIVE_PROFILE_H
#define MPROF_RT_HTTP_LIVE_PROFILE_H

#include "http/reply.h"
#include "write/write_file.h"

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

#endif // MPROF_RT_HTTP_LIVE_PROFILE_H
