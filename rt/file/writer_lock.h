// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares writer_lock, which lets only one thread at a time write a profile,
// and the caller of the writing thread (caller.h). writer_lock has the lowest
// rank.

#ifndef MPROF_RT_FILE_WRITER_LOCK_H
#define MPROF_RT_FILE_WRITER_LOCK_H

#include "sys/caller.h"
#include "sys/lock.h"

extern struct mprof_lock mprof_writer_lock;
// The state of the writing thread at its call into the runtime. A profile of
// all threads' stacks shows only the writing thread's frames above this call,
// which are the program's frames. Guarded by writer_lock.
extern struct mprof_caller mprof_writer_caller;

#endif // MPROF_RT_FILE_WRITER_LOCK_H
