// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kind of profiles that a command shows of a program or a directory.

#ifndef MPROF_TOOL_WANTED_KIND_H
#define MPROF_TOOL_WANTED_KIND_H

#include "commands/options.h"
#include "commands/profile_kinds.h"

// Returns the kind that the command or --sample asks for. Of directories, it is
// else the first kind with samples, or with the label of --by or --label, from
// the heap on; a message names the other kinds, if the output is text.
const struct profile_kind *wanted_kind(const struct options *o);

#endif
