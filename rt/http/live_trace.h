// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replies of the HTTP server that contain an execution trace of the running
// program. At most one trace of the HTTP server runs at a time.

#ifndef MPROF_RT_HTTP_LIVE_TRACE_H
#define MPROF_RT_HTTP_LIVE_TRACE_H

#include "http/reply.h"

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

#endif // MPROF_RT_HTTP_LIVE_TRACE_H
