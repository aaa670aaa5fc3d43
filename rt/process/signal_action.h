// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signals of the program: reads a signal's name in an option, and gives a
// signal its normal effect after the runtime has handled it. The effect is that
// of the program's previous handler, or the default action.

#ifndef MPROF_RT_PROCESS_SIGNAL_ACTION_H
#define MPROF_RT_PROCESS_SIGNAL_ACTION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define MPROF_SIGNAL_NUMBERS 65 // signals have the numbers 1 to 64

// Returns the number of the signal that the len characters at s give: a number,
// or a name such as USR1 or SIGUSR1. Returns 0 if there is no such signal.
int mprof_signal_number(const char *s, size_t len);

// Returns whether the signal sig ends the process if `action` is its action.
// This is so if `action` is SIG_DFL and the default action of sig ends the
// process.
bool mprof_signal_ends_process(int sig, const struct sigaction *action);

// Gives the signal the effect that it would have without the runtime's handler.
// previous: the signal's action before the runtime installed its handler. Call
// this function at the end of the runtime's handler. If the signal ends the
// process, the process ends when the runtime's handler returns. If *previous
// has SA_RESETHAND, its handler is removed from *previous. Signal safe.
void mprof_signal_pass_on(struct sigaction *previous, int sig, siginfo_t *info,
                          void *context);

#endif // MPROF_RT_PROCESS_SIGNAL_ACTION_H
