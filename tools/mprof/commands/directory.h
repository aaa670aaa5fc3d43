// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Directories as arguments of commands that read files of MProf.

#ifndef MPROF_TOOL_DIRECTORY_H
#define MPROF_TOOL_DIRECTORY_H

#include "commands/options.h"

// Stores in *own a copy of the options in which the files of a directory
// replace its path, sorted by name. suffixes: the ends of the names of the
// files, and then NULL. adds_up: the command adds up the files, so of the
// snapshots of a process, and of its file at exit, only the last one of a kind
// is taken. Returns false after a message if a directory has no such file or
// cannot be read. The paths stay in memory.
bool directory_expand(const struct options *options,
                      const char *const suffixes[], bool adds_up,
                      struct options *own);
// If the path is a directory, returns a message that says which file of it to
// give, such as its newest heap profile. Otherwise returns NULL. wanted: the
// end of the names of the files that the command reads, or NULL if it reads all
// profiles. The next call overwrites the message.
const char *directory_message(const char *path, const char *wanted);

#endif
