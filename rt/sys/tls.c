// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See tls.h.

#include "sys/tls.h"

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
