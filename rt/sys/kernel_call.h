// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes system calls. See arch.h for the instruction.

#ifndef MPROF_RT_SYS_KERNEL_CALL_H
#define MPROF_RT_SYS_KERNEL_CALL_H

#include "sys/arch.h"

// Makes a system call, as mprof_syscall_here does. May be a function of its
// own.
static inline long mprof_syscall(long nr, long a, long b, long c, long d,
                                 long e, long f) {
  return mprof_syscall_here(nr, a, b, c, d, e, f);
}

static inline long mprof_syscall3(long nr, long a, long b, long c) {
  return mprof_syscall(nr, a, b, c, 0, 0, 0);
}
static inline long mprof_syscall4(long nr, long a, long b, long c, long d) {
  return mprof_syscall(nr, a, b, c, d, 0, 0);
}

#endif // MPROF_RT_SYS_KERNEL_CALL_H
