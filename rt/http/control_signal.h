// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signal of the option control_signal, which opens the HTTP server of a
// running program. A thread of the runtime waits for the signal, because a
// signal handler cannot start the thread of the HTTP server.

#ifndef MPROF_RT_HTTP_CONTROL_SIGNAL_H
#define MPROF_RT_HTTP_CONTROL_SIGNAL_H

// Installs the handler and starts the thread, if the option asks for them.
// Called at start and in a forked child.
void mprof_control_signal_start(void);

#endif // MPROF_RT_HTTP_CONTROL_SIGNAL_H
