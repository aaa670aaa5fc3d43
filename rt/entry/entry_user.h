// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of functions that the program marks with mprof_lock, mprof_unlock or
// mprof_blocking. An entry is a function of the runtime that instrumented code
// calls. A call site of a marked function calls a begin entry, then the marked
// function, then an end entry.

#ifndef MPROF_RT_ENTRY_ENTRY_USER_H
#define MPROF_RT_ENTRY_ENTRY_USER_H

#include "sys/abi_words.h"

// notes: MPROF_USER_WORDS words of memory in the caller's frame. The runtime
//   uses this memory from the begin entry to the end entry.
// f: the marked function.
// lock: the address that identifies the lock.
MPROF_ENTRY void __mprof_user_lock_begin(void *notes, void *f, void *lock);
MPROF_ENTRY void __mprof_user_lock_end(void *notes);
MPROF_ENTRY void __mprof_user_unlock_begin(void *notes, void *f, void *lock);
MPROF_ENTRY void __mprof_user_unlock_end(void *notes);
MPROF_ENTRY void __mprof_user_call_begin(void *notes, void *f);
MPROF_ENTRY void __mprof_user_call_end(void *notes);

#endif // MPROF_RT_ENTRY_ENTRY_USER_H
