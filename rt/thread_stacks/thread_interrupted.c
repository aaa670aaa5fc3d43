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
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/unwind_cfi.h"
#include "unwind/unwind_fp.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

static bool is_syscall_at(uintptr_t pc) {
  static const unsigned char instruction[] = {0x0f, 0x05};
  return mprof_sys_readable(pc) &&
         memcmp((const void *)pc, instruction, sizeof(instruction)) == 0;
}

static const greg_t *interrupted_registers(uintptr_t frame) {
  if (frame == 0 || !mprof_tls.self)
    return NULL;
  // Use a copy of the thread's stack range, because the interrupted code may be
  // in the middle of a change of the original.
  struct mprof_stack_range range = mprof_tls.self->range;
  const ucontext_t *u = mprof_interrupted_context(&range, frame);
  return u ? u->uc_mcontext.gregs : NULL;
}

// Describes the interrupted system call in *p. r: the registers that the kernel
// has saved.
// - If the kernel will restart the call, the program counter points to the
//   syscall instruction, and rax has the number of the call.
// - If the call has failed with EINTR, the program counter points behind the
//   syscall instruction, and rax is -EINTR.
// In all other cases the function returns false.
static bool read_call(const greg_t *r, struct mprof_proc_thread *p) {
  const bool restarts = r[REG_RAX] >= 0 && is_syscall_at((uintptr_t)r[REG_RIP]);
  const bool is_over =
      r[REG_RAX] == -EINTR && is_syscall_at((uintptr_t)r[REG_RIP] - 2);
  if (!restarts && !is_over)
    return false;
  *p = (struct mprof_proc_thread){
      .state = 'S',
      .syscall = restarts ? (int)r[REG_RAX] : MPROF_SYSCALL_UNKNOWN,
      .args = {(uint64_t)r[REG_RDI], (uint64_t)r[REG_RSI], (uint64_t)r[REG_RDX],
               (uint64_t)r[REG_R10], (uint64_t)r[REG_R8], (uint64_t)r[REG_R9]},
      .pc = (uintptr_t)r[REG_RIP],
      .sp = (uintptr_t)r[REG_RSP]};
  return true;
}

bool mprof_interrupted_call(uintptr_t frame, struct mprof_proc_thread *p) {
  const greg_t *r = interrupted_registers(frame);
  return r && read_call(r, p);
}

bool mprof_call_of_context(const void *context, struct mprof_proc_thread *p) {
  return read_call(((const ucontext_t *)context)->uc_mcontext.gregs, p);
}

bool mprof_sleeps_again(const struct mprof_proc_thread *p, bool calls_again) {
  const uint64_t command = p->args[1] & FUTEX_CMD_MASK;
  if ((p->syscall != SYS_futex &&
       (p->syscall != MPROF_SYSCALL_UNKNOWN || !calls_again)) ||
      !mprof_sys_readable(p->args[0] & -(uintptr_t)8))
    return false;
  const uint32_t word =
      __atomic_load_n((const uint32_t *)p->args[0], __ATOMIC_RELAXED);
  if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET)
    return word == (uint32_t)p->args[2];
  return (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2) &&
         (word & FUTEX_TID_MASK) != 0;
}

// Returns whether the interrupted system call belongs to the wait at address w.
// The call belongs to this wait if w is close above the interrupted stack
// pointer. If w is not close, the thread has left the wait by a longjmp, or the
// frames of another signal handler are in between.
// r: the registers that the kernel has saved.
static bool is_near(uintptr_t w, const greg_t *r) {
  return w - (uintptr_t)r[REG_RSP] < MPROF_MAX_FRAME_BYTES;
}

struct mprof_wait *mprof_interrupted_wait(uintptr_t frame) {
  struct mprof_proc_thread p;
  const greg_t *r = interrupted_registers(frame);
  const uintptr_t at =
      r ? atomic_load(&mprof_tls.self->wait) & ~MPROF_WAIT_BITS : 0;
  if (at == 0 || at == MPROF_WAIT_ASKED || !is_near(at, r) ||
      !mprof_sys_readable(at & -(uintptr_t)8))
    return NULL;
  struct mprof_wait *w = (struct mprof_wait *)at;
  return w->is_noted && w->epoch == mprof_process_epoch() && read_call(r, &p)
             ? w
             : NULL;
}
