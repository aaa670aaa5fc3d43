// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes system calls with the syscall instruction of x86-64.

#ifndef MPROF_RT_SYS_KERNEL_CALL_H
#define MPROF_RT_SYS_KERNEL_CALL_H

// Makes the system call with number nr and the arguments a to f. Returns the
// result, or -errno. Is a part of the function that calls it.
__attribute__((always_inline)) static inline long
mprof_syscall_here(long nr, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// Makes a system call, as mprof_syscall_here does. May be a function of its
// own.
static inline long mprof_syscall(long nr, long a, long b, long c, long d,
                                 long e, long f) {
  return mprof_syscall_here(nr, a, b, c, d, e, f);
}

#endif // MPROF_RT_SYS_KERNEL_CALL_H
