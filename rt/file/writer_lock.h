// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares writer_lock, which lets only one thread at a time write a profile.
// Also declares mprof_writer_caller, the state of the writing thread at its
// call of the runtime. writer_lock has the lowest rank, so a thread takes it
// before any other lock of the runtime.

#ifndef MPROF_RT_FILE_WRITER_LOCK_H
#define MPROF_RT_FILE_WRITER_LOCK_H

#include "sys/arch.h"
#include "sys/lock.h"

extern MPROF_HIDDEN struct mprof_lock mprof_writer_lock;
// The state of the writing thread when it called the runtime (arch.h). A
// profile of all threads' stacks shows the writing thread's stack from the
// program's function that made this call. The frames that the call has added
// belong to the runtime and are not shown. Guarded by writer_lock.
extern MPROF_HIDDEN struct mprof_caller mprof_writer_caller;

#endif // MPROF_RT_FILE_WRITER_LOCK_H
