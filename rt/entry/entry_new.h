// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of operator new and delete.

#ifndef MPROF_RT_ENTRY_ENTRY_NEW_H
#define MPROF_RT_ENTRY_ENTRY_NEW_H

// Where operator new and delete may come later, with a library that is opened,
// or are the program's own, and allocate by an intercepted malloc: entry_new.c.
void mprof_entry_new_init(void);

#endif // MPROF_RT_ENTRY_ENTRY_NEW_H
