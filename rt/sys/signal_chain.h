// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a signal does besides what the runtime does: the handler that there was
// before the runtime's runs, or the default action.

#ifndef MPROF_RT_SYS_SIGNAL_CHAIN_H
#define MPROF_RT_SYS_SIGNAL_CHAIN_H

#include <signal.h>
#include <stdbool.h>

// Returns whether the signal ends the process by an action.
bool mprof_signal_ends_process(int sig, const struct sigaction *action);

// At the end of a handler: does what the signal would have done, as the kernel
// would have. A default that ends the process does so when the handler returns.
// previous: loses its function when that was to run once only. [signal]
void mprof_signal_pass_on(struct sigaction *previous, int sig, siginfo_t *info,
                          void *context);

#endif // MPROF_RT_SYS_SIGNAL_CHAIN_H
