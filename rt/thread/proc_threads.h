// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the kernel's data about the threads of this process from
// /proc/self/task. The functions need no ptrace permission and stop no thread.

#ifndef MPROF_RT_THREAD_PROC_THREADS_H
#define MPROF_RT_THREAD_PROC_THREADS_H

#include "sys/os.h"

// Stores the ids of the threads of this process in tids, at most cap ids, in
// the order in which the threads were created. Returns the number of listed
// threads, which may exceed cap, or -errno.
// missing: receives the number of threads that the kernel has omitted from the
//   list, because other threads have ended meanwhile. May be NULL.
long mprof_proc_threads(int *tids, size_t cap, size_t *missing);
// Finds the thread that an emulator of processors, such as qemu, has in this
// process beside those of the program. The thread counts as one of the
// runtime's own. Call this before the program has threads of its own, and in a
// forked child. Does nothing on x86-64, for which no emulator is used.
void mprof_proc_find_emulator(bool is_child);
// Returns the number of threads of this process, without the runtime's own
// threads. Returns 0 if /proc cannot be read.
uint64_t mprof_proc_thread_count(void);
// Returns the number of threads of this process, with the runtime's own
// threads. Returns 0 if the number is unknown.
uint64_t mprof_proc_all_threads_count(void);
// Values of the field `syscall` below. NONE: the thread is not in a system
// call, but it sleeps, for example in a page fault. UNKNOWN: the system call is
// not known, for example because the thread runs.
enum { MPROF_SYSCALL_NONE = -1, MPROF_SYSCALL_UNKNOWN = -2 };
struct mprof_proc_thread {
  char state;       // letter for the state, as in /proc: R, S, D, T, ...
  uint64_t blocked; // mask of blocked signals; bit s - 1 is for signal s
  uint64_t ran_ns;  // processor time used, in nanoseconds
  uint64_t sleeps;  // voluntary context switches so far; read after ran_ns
  int syscall;      // number of the system call, or MPROF_SYSCALL_...
  uint64_t args[6];
  uintptr_t pc, sp; // 0: unknown
};
// Reads the data of thread tid into *p. Returns false if the thread has ended.
bool mprof_proc_thread(int tid, struct mprof_proc_thread *p);
// Does the same in two thirds of the time for a thread that runs. But if the
// thread goes to sleep meanwhile, *p may show it as running.
bool mprof_proc_thread_asleep(int tid, struct mprof_proc_thread *p);
// Times of a thread, in nanoseconds: the processor time that it has used, and
// the time that it was runnable and had no processor.
struct mprof_proc_times {
  uint64_t ran_ns, delayed_ns;
};
// Returns false if the thread has ended, or if the kernel does not tell.
bool mprof_proc_times(int tid, struct mprof_proc_times *t);
// Stores the name of thread tid in `name`, or "" if the name cannot be read.
// Returns false if the thread has ended.
bool mprof_proc_thread_name(int tid, char name[MPROF_THREAD_NAME]);

#endif // MPROF_RT_THREAD_PROC_THREADS_H
