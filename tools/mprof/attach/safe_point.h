// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells whether a stopped thread can call functions of the loader. It must not
// be inside of an allocator, the loader or a function of libc that holds one of
// libc's locks: the call would wait for a lock that its own thread holds, or
// see data that is changed halfway.

#ifndef MPROF_TOOL_SAFE_POINT_H
#define MPROF_TOOL_SAFE_POINT_H

#include "attach/target.h"

struct stacks; // reads the stacks of a process

// Prepares for the process. Returns NULL if its modules cannot be read.
struct stacks *stacks_begin(const struct target *t);
void stacks_end(struct stacks *s);

// Returns whether the thread, which ptrace has stopped, is at a safe point.
bool stacks_is_safe(struct stacks *s, pid_t tid);

#endif
