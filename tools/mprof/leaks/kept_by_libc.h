// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks that libc, the loader and the C++ library allocate for themselves and
// keep until the process ends, such as the thread-local storage of cached
// thread stacks. They are no leaks of the program.

#ifndef MPROF_TOOL_KEPT_BY_LIBC_H
#define MPROF_TOOL_KEPT_BY_LIBC_H

#include "leaks/suppressions.h"

// Adds the list of functions that allocate such blocks to *s, which is empty.
void kept_by_libc_init(struct suppressions *s);
// Returns the entry of the list that has allocated the sample's blocks, or
// NULL. Only the innermost frame and the frames of these libraries that follow
// it are compared: a constructor of a plugin that dlopen calls may leak.
struct suppression *kept_by_libc_find(struct suppressions *s,
                                      const struct profile *p,
                                      const struct sample *sample);

#endif
