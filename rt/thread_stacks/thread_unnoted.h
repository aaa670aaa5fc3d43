// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the hooked function, such as sem_wait, in which a thread waits, if the
// wait is unnoted: the thread has not stored the address of its struct
// mprof_wait in its record (thread_wait.h). A wait is unnoted if it began
// before the runtime asked the threads to note their waits, or if
// uninstrumented code waits. The functions use the kernel's data about the
// thread and the first frames of the thread's stack. They do not disturb the
// thread.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_UNNOTED_H
#define MPROF_RT_THREAD_STACKS_THREAD_UNNOTED_H

#include "sys/base.h"

struct mprof_proc_thread;
struct mprof_thread_slot;

struct mprof_unnoted {
  uintptr_t op;     // address of the hooked function
  uintptr_t caller; // return address in the caller of op; 0: unknown
  uintptr_t pc;     // address of the instruction after the system call
  // Number of addresses in an unwound stack that precede the address in the
  // caller of op. These addresses belong to libc.
  uint8_t inner;
  uint8_t kind; // enum mprof_kind of op
  // True: the frame of the function op is on the stack. False: only the call of
  // op is known. (The last action of some functions of libc is a jump to
  // another function, which then uses their frame.)
  bool is_on_stack;
  // Only if is_on_stack: number of frames from the system call to the first
  // hooked function. This function is op, or a hooked function that op has
  // called (mtx_lock calls pthread_mutex_lock).
  uint8_t before;
};

// Finds the hooked function in which a thread sleeps. p: the state of the
// thread. Returns false if the thread is not in a system call of libc, or if
// the function is unknown.
bool mprof_unnoted_find(const struct mprof_proc_thread *p,
                        struct mprof_unnoted *u);
// Makes the hooked function of slot->unnoted the leaf of the stack in the slot.
// This leaf replaces the functions of libc that the hooked function has called.
// Changes nothing if the thread has left that wait before it filled the slot.
void mprof_unnoted_name(struct mprof_thread_slot *slot);

#endif // MPROF_RT_THREAD_STACKS_THREAD_UNNOTED_H
