// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the name of a signal; see signal_number.h.

#include "process/signal_number.h"

#include <signal.h>
#include <string.h>

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
  if (i == len && n < MPROF_SIGNALS)
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
