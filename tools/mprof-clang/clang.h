// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds and runs clang. If something is missing, these functions print a
// message and end the process.

#ifndef MPROF_TOOLS_MPROF_CLANG_CLANG_H
#define MPROF_TOOLS_MPROF_CLANG_CLANG_H

#include <stdbool.h>

struct clang {
  const char *name; // for messages
  char *path;
  int version;     // the major version; 0: not known yet
  bool needs_mode; // it compiles C++ only with --driver-mode=g++
};

// Returns the clang, or the clang++, that $MPROF_CLANG names. Without this
// variable, returns the newest one that is installed and has a plugin.
// plugin_dir: the directory with the plugins, one for each version of clang.
struct clang clang_find(const char *plugin_dir, bool is_cxx);
// Ends the process if there is no plugin for this clang.
void clang_check(struct clang *clang);
// Runs clang in a child process. Returns the exit status. The list of arguments
// begins with argv[0] and ends with NULL.
int clang_run(const struct clang *clang, char **arguments);

#endif // MPROF_TOOLS_MPROF_CLANG_CLANG_H
