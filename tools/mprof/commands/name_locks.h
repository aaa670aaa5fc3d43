// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the locks of a report about stuck threads.

#ifndef MPROF_TOOL_NAME_LOCKS_H
#define MPROF_TOOL_NAME_LOCKS_H

#include "commands/options.h"

// Returns the text of a report about stuck threads with the names of locks that
// are global variables, as in "mutex accounts (0x5581d0)", and without the list
// of modules by which they are found. Changes the given text. The text stays in
// memory.
char *name_locks(const struct options *options, char *text);

#endif
