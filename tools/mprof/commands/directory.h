// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Directories as arguments of commands that read files of MProf.

#ifndef MPROF_TOOL_DIRECTORY_H
#define MPROF_TOOL_DIRECTORY_H

#include "commands/options.h"

bool directory_is(const char *path);
// Stores in *own a copy of the options in which the files of a directory
// replace its path, sorted by name. suffixes: the ends of the names of the
// files, and then NULL. adds_up: the command adds up the files, so of the
// snapshots of a process, and of its file at exit, only the last one of a kind
// is taken. Returns false after a message if a directory has no such file or
// cannot be read. The paths stay in memory.
bool directory_expand(const struct options *options,
                      const char *const suffixes[], bool adds_up,
                      struct options *own);
// If the path is a directory, returns the path of its newest file whose name
// has the suffix, or NULL. The next call overwrites the path.
const char *directory_newest(const char *path, const char *suffix);
// The same for a name with one of several suffixes, of which NULL is the last.
const char *directory_newest_of(const char *path, const char *const suffixes[]);
// Returns the path, or that of the newest trace in it if it is a directory, or
// NULL after a message if the directory has none.
const char *directory_trace(const struct options *options, const char *path);
// If the path is a directory, returns a message for a command that reads one
// file. Otherwise returns NULL.
const char *directory_message(const char *path);

#endif
