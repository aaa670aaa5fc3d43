// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lock under which one profile is written at a time, and the thread that
// writes.

#ifndef MPROF_RT_FILE_WRITER_LOCK_H
#define MPROF_RT_FILE_WRITER_LOCK_H

#include "sys/caller.h"
#include "sys/lock.h"

extern struct mprof_lock mprof_writer_lock;
// What the thread has that writes: its own code's frames come first on its
// stack, where all threads' are written. Guarded by writer_lock.
extern struct mprof_caller mprof_writer_caller;

#endif // MPROF_RT_FILE_WRITER_LOCK_H
