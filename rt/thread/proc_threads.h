// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernel says of threads, in /proc.

#ifndef MPROF_RT_THREAD_PROC_THREADS_H
#define MPROF_RT_THREAD_PROC_THREADS_H

#include "sys/os_linux.h"

// Writes the first cap of the process's threads to tids, in the order they were
// created in, and returns how many there are, or -errno.
long mprof_proc_threads(int *tids, size_t cap);
enum { MPROF_SYSCALL_NONE = -1, MPROF_SYSCALL_UNKNOWN = -2 };
struct mprof_proc_thread {
  char state;       // R, S, D, T, ...
  uint64_t blocked; // signals; bit s - 1 for signal s
  uint64_t ran_ns;  // processor time that it has used
  uint64_t sleeps;  // that it has begun, looked at after ran_ns
  int syscall;      // its number, or one of those above
  uint64_t args[6];
  uintptr_t pc; // 0: unknown
};
// False if there is no such thread any more.
bool mprof_proc_thread(int tid, struct mprof_proc_thread *p);
// "" where the kernel does not say. False if the thread has ended.
bool mprof_proc_thread_name(int tid, char name[MPROF_THREAD_NAME]);

#endif // MPROF_RT_THREAD_PROC_THREADS_H
