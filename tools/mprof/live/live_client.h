// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks a running program for profiles and options, through the HTTP server that
// the program has opened (option listen, docs/live.md).

#ifndef MPROF_TOOL_LIVE_CLIENT_H
#define MPROF_TOOL_LIVE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Returns whether an argument of a command names a running program rather than
// a file: a process id, the path of a socket, unix:PATH or ADDRESS:PORT.
bool live_is_target(const char *text);
enum { LIVE_ADDRESS = 320 };

// Returns whether the process has an HTTP server, or opens it at a signal.
bool live_has_server(const char *pid);
// Finds the HTTP server of the program, and opens it if an option lets a signal
// do so. Stores its address, which is a target, too. On failure, returns false
// and stores the reason in `why`.
bool live_find(const char *target, char address[LIVE_ADDRESS], char *why,
               size_t why_size);
// Connects to the HTTP server of the program. Returns the socket. On failure,
// returns -1 and stores the reason in `why`.
int live_connect(const char *target, char *why, size_t why_size);

// Largest body of a reply that is kept in memory. A profile is no larger.
#define HTTP_MEMORY_MAX ((uint64_t)256 << 20)

struct live_reply {
  FILE *out;      // receives the body if the status is 200
  uint64_t most;  // a body of more bytes is refused
  char text[512]; // first line of the body of another status, or why there is
                  // no reply, as in "does not answer as ..."; never empty then
};

// Sends a request to the HTTP server. Closes the socket fd. Returns the status
// code of the reply, or 0 if there is none, or if its body is too large or
// cannot be written. must_give_up: called about ten times a second; if it
// returns true, the request is given up. NULL: waits for ever.
int live_ask(int fd, const char *method, const char *path,
             struct live_reply *reply, bool (*must_give_up)(void));

// Sends a request to the HTTP server of the target. Returns the body of the
// reply, which the caller frees, and stores its length. If the status is not
// 200, returns NULL, and stores the status and the text of the reply. Status 0:
// there is no reply, and reply->text is a whole message. must_give_up: as for
// live_ask.
char *live_fetch(const char *target, const char *method, const char *path,
                 size_t *size, int *status, struct live_reply *reply,
                 bool (*must_give_up)(void));

#endif
