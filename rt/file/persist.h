// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of the option persist (persistent.h). It has the runtime's
// persistent memory, which the kernel keeps if the process is killed.
//
// The file is made by the first allocation of persistent memory, so a forked
// child that only calls exec makes none. It has the mode 0600. An existing file
// is never changed: it may be all that is left of another process. If the path
// exists, .1, .2 and so on are appended.
//
// The disk space is reserved before the memory is used. Otherwise a full disk
// would end the program by SIGBUS. If the file cannot grow, the runtime goes on
// in private memory, and the file says that it lacks what followed.

#ifndef MPROF_RT_FILE_PERSIST_H
#define MPROF_RT_FILE_PERSIST_H

#include "sys/base.h"

// Starts the option, if it is set. Call this after mprof_persistent_init and
// before the first allocation.
void mprof_persist_start(void);
// Protects the process from other programs that truncate the file: this would
// discard the pages of the runtime's memory, and the next access would end the
// process by SIGBUS. Called again and again by a thread of the runtime that is
// no thread of the program. tid: the id of this thread. The
// first call that finds a file takes a lease on it: the kernel lets a program
// that wants to open or truncate the file wait until the lease is given back.
// If the program wants to read, this function gives the lease back, and takes
// it again later. If the program wants to write or to truncate, this function
// moves the memory out of the file first. Returns the milliseconds until the
// next call. Returns 0 if no more call is needed: after the move, or if the
// file system has no leases.
unsigned mprof_persist_look(int tid);
// Removes the file, because the process has written its profiles at the end.
// With persist_keep, only marks the file. Does nothing without a file,
// and in a child that was made without running fork handlers. The descriptor
// and the memory stay as they are.
void mprof_persist_end(void);
// Leaves the parent's file in a forked child, and makes the memory private.
// Call this before anything else in the child. The child's own memory will lie
// in a file of its own.
void mprof_persist_begin_child(void);

#endif // MPROF_RT_FILE_PERSIST_H
