// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds names to profiles that one process gives again and again. Files with
// names are read only for addresses that no earlier profile had.

#ifndef MPROF_TOOL_KNOWN_NAMES_H
#define MPROF_TOOL_KNOWN_NAMES_H

#include "commands/options.h"

struct known_names;

// Returns an empty memory of names.
struct known_names *known_names_new(void);
// Does the same as add_names with NAMES_AUTOMATIC.
void known_names_add(struct known_names *known, const struct options *options,
                     struct profile *p);

#endif
