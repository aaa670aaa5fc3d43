// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lock that lets one profile be written at a time (writer_lock, the lowest
// rank), and the caller of the thread that writes.

#ifndef MPROF_RT_FILE_WRITER_LOCK_H
#define MPROF_RT_FILE_WRITER_LOCK_H

#include "sys/caller.h"
#include "sys/lock.h"

extern struct mprof_lock mprof_writer_lock;
// The caller of the writing thread. Where the stacks of all threads are
// written, the program's frames above this caller represent the writing thread.
// Guarded by writer_lock.
extern struct mprof_caller mprof_writer_caller;

#endif // MPROF_RT_FILE_WRITER_LOCK_H
