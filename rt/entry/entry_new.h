// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initializes the entries of operator new and delete (entry_new.c).

#ifndef MPROF_RT_ENTRY_ENTRY_NEW_H
#define MPROF_RT_ENTRY_ENTRY_NEW_H

// Sets the pointers __mprof_next_* of operators to functions of entry_new.c, in
// two cases. First, the program has no operators yet, because a library that
// the program opens later defines them. Second, the operators call an
// intercepted malloc. The runtime must then record the operator's call as the
// outermost allocation. Called once at start.
void mprof_entry_new_init(void);

#endif // MPROF_RT_ENTRY_ENTRY_NEW_H
