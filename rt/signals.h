// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals that the runtime takes, of which the program may have handlers, too.

#ifndef MPROF_RT_SIGNALS_H
#define MPROF_RT_SIGNALS_H

#include <signal.h>

// Takes the signals that the option dump_on_signal names.
void mprof_signals_init(void);

// At the end of a handler: does what the signal would have done, as the kernel
// would have. A default that ends the process does so when the handler returns.
// previous: loses its function when that was to run once only. [signal]
void mprof_signal_pass_on(struct sigaction *previous, int sig, siginfo_t *info,
                          void *context);

#endif // MPROF_RT_SIGNALS_H
