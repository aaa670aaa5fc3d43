// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of symbols as people read them.

#ifndef MPROF_TOOL_VARIABLE_H
#define MPROF_TOOL_VARIABLE_H

#include "names/symbols.h"

// Returns a name as in the source text. A part that the compiler has split off
// a function has the name of the function. The caller frees the name.
char *plain_name(const char *name);

// Returns the name of the variable that contains the address, and the offset in
// it if it is not 0, such as table+0x50. Returns NULL if there is no variable.
// The caller frees the text.
char *variable_name(const struct symbols *symbols, uint64_t address);

#endif
