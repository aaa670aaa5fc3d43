// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See tls.h.

#include "sys/tls.h"

#include "sys/lock.h"
#include "sys/os.h"
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

struct mprof_guard_hooks mprof_guard_hooks;

// The guard is left if the function that has set it has returned. Signal
// handlers and coroutines may run on any stack, so the order of two frame
// addresses says nothing. But a function that has not returned keeps its frame
// and its return address.
static bool is_left(uintptr_t guard, uintptr_t frame) {
  if (guard >= MPROF_GUARD_KEPT_OUT)
    return false;
  const uintptr_t at = mprof_guard_frame(guard);
  uintptr_t address;
  if (frame == at || (mprof_sys_copy(&address, at + sizeof(address),
                                     sizeof(address)) == sizeof(address) &&
                      mprof_guard_value(at, address) != guard))
    return true;
  return mprof_guard_hooks.has_overflowed &&
         mprof_guard_hooks.has_overflowed(at, frame);
}

__attribute__((preserve_most)) bool mprof_guard_is_left(uintptr_t frame) {
  if (!is_left(mprof_tls.guard, frame))
    return false;
  mprof_guard_abandon();
  return true;
}

void mprof_guard_abandon(void) {
  mprof_locks_abandon();
  if (mprof_guard_hooks.abandon)
    mprof_guard_hooks.abandon();
  mprof_tls.lock_profile.disabled = false;
  mprof_tls.guard = 0;
  mprof_stat_add(MPROF_STAT_left, 1);
}
