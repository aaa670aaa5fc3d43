// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of interrupted code. The kernel saves them on the stack before
// it calls a signal handler (ucontext_t). What differs between processors is in
// context_x86_64.h and context_aarch64.h, which define the same
// names:
//   mprof_context_pc(u), mprof_context_sp(u), mprof_context_bp(u)
//     the program counter, the stack pointer and the frame pointer.
//   mprof_context_link(u)
//     the register into which calls put the return address; 0 if there is none.
//   MPROF_CONTEXT_AT
//     distance of the ucontext_t from the stack pointer that a signal handler
//     has when it returns.
//   MPROF_SIGNAL_RETURN_BYTES, mprof_is_signal_return_code(code)
//     whether code has the instructions to which a signal handler returns.
//     Debuggers use the same test.
//   mprof_context_call(u, was_over, args)
//     the number of the system call that was interrupted, and its arguments.
//     was_over: the call has failed with EINTR. -1: the registers do not have
//     the number.
//   mprof_context_result(u), MPROF_RESULT_REPLACES_NUMBER
//     the result of the system call; whether it is in the register that had the
//     number of the call.
//   mprof_context_made_root(u, stack, size)
//     address to which the function returns that makecontext has prepared on
//     this stack; 0 if it is not known.
//   mprof_context_registers(u, size), mprof_context_vectors(u, size)
//     where the registers of these two kinds are, and the size of this memory.

#ifndef MPROF_RT_SYS_CONTEXT_H
#define MPROF_RT_SYS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__)
#include "sys/context_x86_64.h"
#elif defined(__aarch64__)
#include "sys/context_aarch64.h"
#else
#error                                                                         \
    "MProf supports x86-64 and arm64: write sys/context_NAME.h for this processor"
#endif

#endif // MPROF_RT_SYS_CONTEXT_H
