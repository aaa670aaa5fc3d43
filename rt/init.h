// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Start and end of the runtime. The runtime's constructor starts the runtime,
// unless an earlier event has already started it. In a forked child, the
// runtime is started again. The runtime's destructor writes the output at the
// end of the process. The functions of this header write the output before
// _exit and exec (entry_leave.c), which run no destructors.

#ifndef MPROF_RT_INIT_H
#define MPROF_RT_INIT_H

// Writes the output if the option dump_on__exit asks for it. Call before the
// program ends the process by a function that runs no destructors, such as
// _exit.
void mprof_write_before_end(void);
// Writes the output if the option dump_on_exec asks for it, but only at the
// first call. Call this before the program calls exec, which may fail.
void mprof_write_before_exec(void);

#endif // MPROF_RT_INIT_H
