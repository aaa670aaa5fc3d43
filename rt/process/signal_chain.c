// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See signal_chain.h.

#include "process/signal_chain.h"

#include "sys/os_linux.h"

#include <string.h>
#include <ucontext.h>

// Returns whether the default action of sig lets the process go on.
static bool is_harmless(int sig) {
  return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH;
}

bool mprof_signal_ends_process(int sig, const struct sigaction *p) {
  return !(p->sa_flags & SA_SIGINFO) && p->sa_handler == SIG_DFL &&
         !is_harmless(sig);
}

static void end_process(int sig, siginfo_t *info) {
  struct sigaction by_default;
  memset(&by_default, 0, sizeof(by_default));
  by_default.sa_handler = SIG_DFL;
  sigaction(sig, &by_default, NULL);
  // Sends the signal again. The new signal stays pending until the handler
  // returns, and then ends the process. So a core file shows the registers at
  // the fault. It is not enough to return and repeat the faulting instruction.
  // The instruction might not fault again, because another thread may have
  // changed the memory meanwhile.
  mprof_sys_resend(sig, info);
}

static void call_previous(struct sigaction *p, int sig, siginfo_t *info,
                          void *context) {
  const struct sigaction before = *p;
  const ucontext_t *interrupted = context;
  sigset_t mask;
  sigorset(&mask, &interrupted->uc_sigmask, &before.sa_mask);
  if (!(before.sa_flags & SA_NODEFER))
    sigaddset(&mask, sig);
  if (before.sa_flags & SA_RESETHAND) {
    p->sa_flags &= ~SA_SIGINFO;
    p->sa_handler = SIG_DFL;
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(sig, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(sig);
}

void mprof_signal_pass_on(struct sigaction *previous, int sig, siginfo_t *info,
                          void *context) {
  if (mprof_signal_ends_process(sig, previous))
    end_process(sig, info);
  else
    call_previous(previous, sig, info, context);
}
