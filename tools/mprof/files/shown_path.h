// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of files for messages. The profile of a running program is in a
// temporary file without a name, and messages name the program instead.

#ifndef MPROF_TOOL_SHOWN_PATH_H
#define MPROF_TOOL_SHOWN_PATH_H

// From now on, shown_path returns `shown` for the path. Both texts must stay in
// memory.
void shown_path_set(const char *path, const char *shown);
// Returns the name of the file for messages. This is the path itself unless
// shown_path_set has set another name.
const char *shown_path(const char *path);

#endif
