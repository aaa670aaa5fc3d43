// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handlers of signals on which the runtime writes profiles. If the program has
// a handler of such a signal, that handler runs afterwards (signal_action.h).

#ifndef MPROF_RT_SIGNALS_H
#define MPROF_RT_SIGNALS_H

// Installs handlers for the signals of the option dump_on_signal. Called at
// start.
void mprof_signals_init(void);

#endif // MPROF_RT_SIGNALS_H
