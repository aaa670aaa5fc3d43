// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's thread that looks for stuck threads at intervals and reports
// them, for the option stuck_report.

#ifndef MPROF_RT_STUCK_WATCH_H
#define MPROF_RT_STUCK_WATCH_H

// Starts the thread if the option stuck_report asks for it. Called at start and
// in a forked child.
void mprof_stuck_watch_start(void);
// Tells the thread to end. The thread begins no report afterwards.
void mprof_stuck_watch_stop(void);
// Says on stderr that no stuck thread was found, if the user has set the option
// stuck_report, and no other output at exit says it. Call this after
// mprof_stuck_watch_stop. Prints nothing in a forked child.
void mprof_stuck_watch_say_none(void);

#endif // MPROF_RT_STUCK_WATCH_H
