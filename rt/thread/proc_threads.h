// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the kernel's data about the threads of this process from
// /proc/self/task. The functions need no permission to trace and stop no
// thread.

#ifndef MPROF_RT_THREAD_PROC_THREADS_H
#define MPROF_RT_THREAD_PROC_THREADS_H

#include "sys/os_linux.h"

// Stores the ids of the first cap threads of the process, in the order of their
// creation. Returns the number of listed threads, or -errno.
// missing: receives the number of threads that the kernel has not listed,
//   because other threads have ended meanwhile. May be NULL.
long mprof_proc_threads(int *tids, size_t cap, size_t *missing);
enum { MPROF_SYSCALL_NONE = -1, MPROF_SYSCALL_UNKNOWN = -2 };
struct mprof_proc_thread {
  char state;       // R, S, D, T, ... as in /proc
  uint64_t blocked; // mask of blocked signals; bit s - 1 for signal s
  uint64_t ran_ns;  // processor time used
  uint64_t sleeps;  // number of sleeps so far; read after ran_ns
  int syscall;      // number of its system call or MPROF_SYSCALL_...
  uint64_t args[6];
  uintptr_t pc; // 0: unknown
};
// Reads the data of thread tid into *p. Returns false if the thread no longer
// exists.
bool mprof_proc_thread(int tid, struct mprof_proc_thread *p);
// Stores the name of thread tid, or "" if its name cannot be read. Returns
// false if the thread has ended.
bool mprof_proc_thread_name(int tid, char name[MPROF_THREAD_NAME]);

#endif // MPROF_RT_THREAD_PROC_THREADS_H
