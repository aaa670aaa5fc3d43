// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's life: started by its constructor or by the first event, which
// may come earlier; started anew in a forked child; ended by its destructor.

#ifndef MPROF_RT_INIT_H
#define MPROF_RT_INIT_H

// Before the program leaves the process by other ways than exit: _exit, which
// ends it, or exec, which may fail.
void mprof_write_before_end(void);
void mprof_write_before_exec(void);

#endif // MPROF_RT_INIT_H
