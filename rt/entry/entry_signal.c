// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the functions that set what a signal does. If the CPU profile
// handles the signal, the program's action must not replace the profile's
// handler: the next signal of a timer would end the process. (cpu/cpu.h)

#include "cpu/cpu.h"
#include "sys/abi_words.h"

#include <signal.h>

#pragma weak signal
#pragma weak sigaction

typedef void (*handler)(int);

MPROF_ENTRY int __mprof_sigaction(int sig, const struct sigaction *act,
                                  struct sigaction *old);
MPROF_ENTRY int __mprof_sigaction(int sig, const struct sigaction *act,
                                  struct sigaction *old) {
  return mprof_cpu_handles(sig) ? mprof_cpu_set_action(sig, act, old)
                                : sigaction(sig, act, old);
}

MPROF_ENTRY handler __mprof_signal(int sig, handler h);
MPROF_ENTRY handler __mprof_signal(int sig, handler h) {
  if (!mprof_cpu_handles(sig))
    return signal(sig, h);
  struct sigaction act = {.sa_handler = h, .sa_flags = SA_RESTART}, old;
  sigemptyset(&act.sa_mask);
  sigaddset(&act.sa_mask, sig);
  return mprof_cpu_set_action(sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}
