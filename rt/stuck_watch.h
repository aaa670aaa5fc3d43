// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The option stuck_report.

#ifndef MPROF_RT_STUCK_WATCH_H
#define MPROF_RT_STUCK_WATCH_H

// Starts the thread that looks, if the option asks for it; in a forked child,
// too.
void mprof_stuck_watch_start(void);
// Ends it; it writes nothing any more.
void mprof_stuck_watch_stop(void);

#endif // MPROF_RT_STUCK_WATCH_H
