// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The HTTP server: a thread of the runtime that answers HTTP requests for the
// profiles of the running program, for the option listen and for mprof_listen.
// Without these, there is neither a thread nor a socket.
//
// The thread is in no profile, blocks all signals, takes none of the program's
// locks and allocates nothing from its heap. While nobody asks, the thread
// sleeps in poll without a timeout.
//
//   http_request.c    parses a request
//   page.c            finds the page that the request asks for
//   live.c            makes profiles, differences and traces
//   reply.c           makes the head of the reply, and holds its body
//   connection.c      reads requests and sends replies
//   listener.c        opens the socket
//   server.c          starts the thread, and waits for all connections

#ifndef MPROF_RT_HTTP_SERVER_H
#define MPROF_RT_HTTP_SERVER_H

#include "sys/base.h"

// Opens the HTTP server if the option listen asks for it. Called at start.
// Returns 0 or -errno.
int mprof_http_start(void);
// Opens the HTTP server, if it is shut, at the address of the option listen, or
// at unix:/tmp/mprof.%p.sock. Call with the recursion guard set.
void mprof_http_open(void);
// Called before the program executes another one, which could not wait for the
// process that gives names.
void mprof_http_before_exec(void);
// Removes the file of the Unix socket, and refuses further profiles, because
// the process ends. Does nothing and makes no system call without an HTTP
// server.
void mprof_http_end(void);
// Called in a forked child: closes the parent's descriptors.
void mprof_http_reset(void);
// Called in a forked child after everything was reset: opens an HTTP server of
// its own, if the parent has one at a Unix socket whose path contains %p.
void mprof_http_start_in_child(void);

// Tells the HTTP server to end, also from its own thread.
void mprof_http_shut(void);
// Waits until an HTTP server that was told to end has ended, at most a second.
void mprof_http_wait_for_end(void);
// NULL, or the function that ends the profiling which mprof_start has begun,
// for the page /debug/mprof/stop. It writes no files.
extern int (*mprof_http_on_stop)(void);

// --- the control signal ---
//
// The signal of the option control_signal opens the HTTP server of a running
// program. A thread of the runtime waits for the signal, because a signal
// handler cannot start the thread of the HTTP server.

// Installs the handler and starts the thread, if the option asks for them.
// Called at start and in a forked child.
void mprof_control_signal_start(void);

#endif // MPROF_RT_HTTP_SERVER_H
