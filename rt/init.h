// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Start and end of the runtime. The runtime's constructor starts it, or the
// first event if that comes earlier. A forked child starts it again. Its
// destructor writes the output at the end. The functions of this header write
// the output where no destructor runs: before _exit and exec (entry_leave.c).

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
