// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The normal effect of a signal that the runtime has handled: the previous
// handler runs, or the default action takes place.

#ifndef MPROF_RT_PROCESS_SIGNAL_CHAIN_H
#define MPROF_RT_PROCESS_SIGNAL_CHAIN_H

#include <signal.h>
#include <stdbool.h>

// Returns whether the signal's default action ends the process and action does
// not replace it.
bool mprof_signal_ends_process(int sig, const struct sigaction *action);

// Gives the signal its normal effect, as the kernel would. Call it at the end
// of a handler. If the default action ends the process, that happens when the
// handler returns. A previous handler with SA_RESETHAND is removed from
// *previous. [signal]
void mprof_signal_pass_on(struct sigaction *previous, int sig, siginfo_t *info,
                          void *context);

#endif // MPROF_RT_PROCESS_SIGNAL_CHAIN_H
