// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is written at the end of the process.

#ifndef MPROF_RT_EXIT_H
#define MPROF_RT_EXIT_H

#include "sys/base.h"

// Writes what the options ask for at the end of the process, and says so in
// one line on stderr. Takes guard and writer_lock.
void mprof_write_at_exit(void);
// Whether the options ask for any; says it if not.
bool mprof_wants_files(void);
// Does it, with both taken.
void mprof_write_last_locked(void);

#endif // MPROF_RT_EXIT_H
