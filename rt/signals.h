// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals that the runtime takes, of which the program may have handlers, too.

#ifndef MPROF_RT_SIGNALS_H
#define MPROF_RT_SIGNALS_H

// Takes the signals that the option dump_on_signal names.
void mprof_signals_init(void);

#endif // MPROF_RT_SIGNALS_H
