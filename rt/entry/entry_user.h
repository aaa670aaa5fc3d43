// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the program's own locks and calls.

#ifndef MPROF_RT_ENTRY_ENTRY_USER_H
#define MPROF_RT_ENTRY_ENTRY_USER_H

#include "sys/abi_words.h"

// notes: MPROF_USER_WORDS words of the caller's frame, from begin to end; f:
// the program's function.
MPROF_ENTRY void __mprof_user_lock_begin(void *notes, void *f, void *lock);
MPROF_ENTRY void __mprof_user_lock_end(void *notes);
MPROF_ENTRY void __mprof_user_unlock_begin(void *notes, void *f, void *lock);
MPROF_ENTRY void __mprof_user_unlock_end(void *notes);
MPROF_ENTRY void __mprof_user_call_begin(void *notes, void *f);
MPROF_ENTRY void __mprof_user_call_end(void *notes);

#endif // MPROF_RT_ENTRY_ENTRY_USER_H
