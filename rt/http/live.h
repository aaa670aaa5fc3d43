// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all replies with data of the running program share: the lock, the names
// of functions, errors, and the end of the process.

#ifndef MPROF_RT_HTTP_LIVE_H
#define MPROF_RT_HTTP_LIVE_H

#include "http/reply.h"

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

#endif // MPROF_RT_HTTP_LIVE_H
