// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The life of the runtime in the process. Its constructor or the first event,
// which may come earlier, starts it; a forked child starts it anew; its
// destructor ends it. This header declares the ends that the destructor does
// not see: entry_leave.c calls these functions.

#ifndef MPROF_RT_INIT_H
#define MPROF_RT_INIT_H

// Writes the output if the option dump_on__exit asks for it. Call before the
// program ends the process by a function that runs no destructors, as _exit.
void mprof_write_before_end(void);
// Writes the output if the option dump_on_exec asks for it, once. Call before
// the program calls exec, which may fail.
void mprof_write_before_exec(void);

#endif // MPROF_RT_INIT_H
