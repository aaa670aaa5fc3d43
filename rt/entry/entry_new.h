// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Start of the entries of operator new and delete (entry_new.c).

#ifndef MPROF_RT_ENTRY_ENTRY_NEW_H
#define MPROF_RT_ENTRY_ENTRY_NEW_H

// Changes __mprof_next_* of operators that they cannot point to directly, so
// that they point to functions of entry_new.c. There are two cases. The
// operators may come later, with a library that the program opens. Or an
// operator calls an intercepted malloc, and must be recorded as the outermost
// call. Called once at start.
void mprof_entry_new_init(void);

#endif // MPROF_RT_ENTRY_ENTRY_NEW_H
