// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the system call that a signal handler of the calling thread has
// interrupted. /proc does not show this call, because the thread is running
// now. But the kernel saved the thread's registers on the stack before it
// called the handler. The saved registers show whether the thread will continue
// the call when the handler returns. (Linux: handle_signal)

#include "thread_stacks/thread_interrupted.h"

#include "lock_wait/contention.h"
#include "process/process.h"
#include "sys/arch.h"
#include "sys/context.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/stack_end.h"
#include "unwind/unwind_cfi.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

static bool is_syscall_at(uintptr_t pc) {
  return mprof_sys_readable(pc) && mprof_is_syscall_code((const void *)pc);
}

static const ucontext_t *interrupted_context(uintptr_t frame) {
  if (frame == 0 || !mprof_tls.self)
    return NULL;
  // Use a copy of the thread's stack range, because the interrupted code may be
  // in the middle of a change of the original.
  struct mprof_stack_range range = mprof_tls.self->range;
  return mprof_interrupted_context(&range, frame);
}

// Describes the interrupted system call in *p. u: the registers that the kernel
// has saved.
// - If the kernel will restart the call, the program counter points to the
//   instruction for system calls.
// - If the call has failed with EINTR, the program counter points behind this
//   instruction, and the result of the call is -EINTR.
// In all other cases the function returns false.
static bool read_call(const ucontext_t *u, struct mprof_proc_thread *p) {
  const uintptr_t pc = mprof_context_pc(u);
  const long result = mprof_context_result(u);
  const bool restarts =
      (result >= 0 || !MPROF_RESULT_REPLACES_NUMBER) && is_syscall_at(pc);
  const bool is_over =
      result == -EINTR && is_syscall_at(pc - MPROF_SYSCALL_BYTES);
  if (!restarts && !is_over)
    return false;
  *p = (struct mprof_proc_thread){
      .state = 'S', .pc = pc, .sp = mprof_context_sp(u)};
  const long number = mprof_context_call(u, !restarts, p->args);
  p->syscall = number >= 0 ? (int)number : MPROF_SYSCALL_UNKNOWN;
  return true;
}

bool mprof_interrupted_call(uintptr_t frame, struct mprof_proc_thread *p) {
  const ucontext_t *u = interrupted_context(frame);
  return u && read_call(u, p);
}

bool mprof_call_of_context(const void *context, struct mprof_proc_thread *p) {
  return read_call(context, p);
}

bool mprof_sleeps_again(const struct mprof_proc_thread *p, bool calls_again) {
  const uint64_t command = p->args[1] & FUTEX_CMD_MASK;
  uint32_t word;
  if ((p->syscall != SYS_futex &&
       (p->syscall != MPROF_SYSCALL_UNKNOWN || !calls_again)) ||
      !mprof_os_copy(&word, p->args[0], sizeof(word)))
    return false;
  if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET)
    return word == (uint32_t)p->args[2];
  return (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2) &&
         (word & FUTEX_TID_MASK) != 0;
}

// Returns whether the interrupted system call belongs to the wait at address w.
// The call belongs to this wait if w is close above the interrupted stack
// pointer. If w is not close, the thread has left the wait by a longjmp, or the
// frames of another signal handler are in between.
// u: the registers that the kernel has saved.
static bool is_near(uintptr_t w, const ucontext_t *u) {
  return w - mprof_context_sp(u) < MPROF_MAX_FRAME_BYTES;
}

struct mprof_wait *mprof_interrupted_wait(uintptr_t frame) {
  struct mprof_proc_thread p;
  const ucontext_t *u = interrupted_context(frame);
  const uintptr_t at =
      u ? atomic_load(&mprof_tls.self->wait) & ~MPROF_WAIT_BITS : 0;
  if (at == 0 || at == MPROF_WAIT_ASKED || !is_near(at, u) ||
      !mprof_sys_readable(at & -(uintptr_t)8))
    return NULL;
  struct mprof_wait *w = (struct mprof_wait *)at;
  return w->is_noted && w->epoch == mprof_process_epoch() && read_call(u, &p)
             ? w
             : NULL;
}
