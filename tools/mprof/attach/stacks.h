// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks of the threads of a process, read from its memory by means of the
// unwind tables of its files (libdw). Whether a stopped thread can call
// functions of the loader follows from its stack.

#ifndef MPROF_TOOL_STACKS_H
#define MPROF_TOOL_STACKS_H

#include "attach/target.h"

struct stacks; // reads the stacks of a process

// Prepares for the process. Returns NULL if its modules cannot be read.
struct stacks *stacks_begin(const struct target *t);
void stacks_end(struct stacks *s);

// Returns whether the thread, which ptrace has stopped, is at a safe point. It
// must not be inside of an allocator, the loader or a function of libc that
// holds one of libc's locks: the call would wait for a lock that its own thread
// holds, or see data that is changed halfway.
// sleeps: the thread is in a system call.
bool stacks_is_safe(struct stacks *s, pid_t tid, bool sleeps);

enum { STACK_FRAMES = 1000 };
struct stack {
  // The innermost frame first. Addresses of calls lie inside of the call.
  uint64_t addresses[STACK_FRAMES];
  size_t count;
  // The name of the function of libc that the program has called, such as
  // pthread_mutex_lock; "": the thread is not in libc. The inner frames, which
  // are libc's own, are left out.
  char waits_in[64];
};
// Returns the build id of the module with the address as hexadecimal digits,
// which the caller frees.
char *stacks_build_id(struct stacks *s, uint64_t address);
// Reads the stack of the thread, which ptrace has stopped.
void stacks_read(struct stacks *s, pid_t tid, struct stack *stack);

#endif
