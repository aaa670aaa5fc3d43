// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks a running program for profiles and options, through the door that the
// program has opened (option listen, docs/live.md).

#ifndef MPROF_TOOL_DOOR_CLIENT_H
#define MPROF_TOOL_DOOR_CLIENT_H

#include <stdbool.h>
#include <stdio.h>

// Returns whether an argument of a command names a running program rather than
// a file: a process id, the path of a socket, unix:PATH or ADDRESS:PORT.
bool door_is_target(const char *text);
// Connects to the door of the program. Returns the socket. On failure, returns
// -1 and stores the reason in `why`.
int door_connect(const char *target, char *why, size_t why_size);
// Sends a request to the door, and writes the body of the reply to `out`.
// Closes the socket fd. Returns the status code of the reply, or 0 if there is
// none. must_give_up: called about ten times a second; if it returns true, the
// request is given up. NULL: waits for ever.
int door_ask(int fd, const char *method, const char *path, FILE *out,
             bool (*must_give_up)(void));

#endif
