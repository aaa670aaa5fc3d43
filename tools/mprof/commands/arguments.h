// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of commands that read profiles. Each is a file, a directory, or
// a running program: a process id, a socket, ADDRESS:PORT or a URL.

#ifndef MPROF_TOOL_ARGUMENTS_H
#define MPROF_TOOL_ARGUMENTS_H

#include "commands/options.h"

// Replaces the arguments of such a command by paths of files: a directory by
// its profiles of the kind that the command shows, such as heap profiles, and a
// running program by a temporary file with its present profile, or for mprof
// html by one for each kind. Does nothing for other commands. Returns false
// after a message.
bool arguments_resolve(struct options *options);
// Returns the target (live/live_client.h) that a process id, a socket,
// ADDRESS:PORT or the URL of a program names, or NULL after a message.
const char *arguments_target(const struct options *o, const char *argument);
// Returns whether the argument names a running program, not a file.
bool arguments_is_program(const char *argument);
// Gets the profiles that such a program has. Returns the paths of temporary
// files, or NULL after a message.
char **arguments_profiles(const struct options *o, const char *argument,
                          size_t *count);

#endif
