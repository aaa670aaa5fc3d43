// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The highest memory of the process: accounts taken while it runs, of which the
// highest one is written at exit. At exit, most programs have already freed
// what people search.

#ifndef MPROF_RT_WRITE_KIND_MEMORY_H
#define MPROF_RT_WRITE_KIND_MEMORY_H

#include "sys/base.h"

// Takes the account of the present, and keeps it instead of an earlier one.
// Call with writer_lock held, in a thread of the runtime.
void mprof_memory_keep(void);

// Makes profiles that are taken from now on show the kept account, if the
// memory was higher then. The process is about to end.
void mprof_memory_end(void);

#endif // MPROF_RT_WRITE_KIND_MEMORY_H
