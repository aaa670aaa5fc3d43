// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See tls.h.

#include "sys/tls.h"

#include "sys/lock.h"
#include "sys/os_linux.h"
#include "sys/stats.h"

#include <signal.h>

_Thread_local struct mprof_tls mprof_tls;

void mprof_tls_deliver_signals(void) {
  uint64_t which = mprof_tls.put_off;
  // Clears put_off (the set of signals that arrived while the recursion guard
  // was set) before unblocking these signals. The handlers run as soon as the
  // signals are unblocked, and they may set bits in put_off again.
  mprof_tls.put_off = 0;
  sigset_t set;
  sigemptyset(&set);
  for (; which != 0; which &= which - 1)
    sigaddset(&set, __builtin_ctzll(which) + 1);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

// The guard is left if the function that has set it has returned. This is sure
// if the caller's frame is not below that function's frame on the same stack.
// Only a signal handler on the alternate stack is on another stack while the
// guard is valid, because the runtime changes no stack.
static bool is_left(uintptr_t guard, uintptr_t frame) {
  struct mprof_alt_stack alt;
  if (guard >= MPROF_GUARD_KEPT_OUT || frame < guard ||
      !mprof_sys_alt_stack(&alt))
    return false;
  const bool is_of_handler = guard - alt.start < alt.bytes;
  if (is_of_handler != alt.is_active)
    return is_of_handler;
  // With SS_AUTODISARM, the kernel does not know that the thread is on its
  // alternate stack. libc places the thread's data above the thread's own
  // stack. So an address above these data is on another stack than one below.
  const uintptr_t end = (uintptr_t)__builtin_thread_pointer();
  return (guard < end) == (frame < end);
}

__attribute__((preserve_most)) bool mprof_guard_is_left(uintptr_t frame) {
  if (!is_left(mprof_tls.guard, frame))
    return false;
  mprof_guard_abandon();
  return true;
}

void mprof_guard_abandon(void) {
  mprof_locks_abandon();
  mprof_tls.lock_profile.disabled = false;
  mprof_tls.guard = 0;
  mprof_stat_add(MPROF_STAT_left, 1);
}
