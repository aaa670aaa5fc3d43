// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See signal_action.h.

#include "process/signal_action.h"

#include "sys/os.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

// --- names ---

static const struct {
  char name[8];
  int number;
} names[] = {
    {"KILL", SIGKILL},     {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
    {"TTIN", SIGTTIN},     {"TTOU", SIGTTOU}, {"HUP", SIGHUP},
    {"INT", SIGINT},       {"QUIT", SIGQUIT}, {"ILL", SIGILL},
    {"TRAP", SIGTRAP},     {"ABRT", SIGABRT}, {"BUS", SIGBUS},
    {"FPE", SIGFPE},       {"USR1", SIGUSR1}, {"SEGV", SIGSEGV},
    {"USR2", SIGUSR2},     {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},
    {"TERM", SIGTERM},     {"CHLD", SIGCHLD}, {"CONT", SIGCONT},
    {"URG", SIGURG},       {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ},
    {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH},
    {"IO", SIGIO},         {"PWR", SIGPWR},   {"SYS", SIGSYS},
};

int mprof_signal_number(const char *s, size_t len) {
  int n = 0;
  size_t i = 0;
  for (; i < len && i < 3 && s[i] >= '0' && s[i] <= '9'; i++)
    n = n * 10 + (s[i] - '0');
  if (i == len && n < MPROF_SIGNAL_NUMBERS)
    return n;
  if (len > 3 && memcmp(s, "SIG", 3) == 0) {
    s += 3;
    len -= 3;
  }
  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strlen(names[i].name) == len && memcmp(names[i].name, s, len) == 0)
      return names[i].number;
  return 0;
}

// --- effects ---

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
