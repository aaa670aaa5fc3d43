// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects unloads of libraries (entry_unload.c). A stack with addresses in an
// unloaded library must not be shown with the names of code that is later
// loaded at the same addresses (module_unloads.h).

#ifndef MPROF_RT_ENTRY_ENTRY_UNLOAD_H
#define MPROF_RT_ENTRY_ENTRY_UNLOAD_H

#include "sys/abi_words.h"

// Records that the library which contains the address `inside` is being
// unloaded. The last destructor of an instrumented shared library calls this
// entry.
MPROF_ENTRY void __mprof_module_unloads(const void *inside);

// Registers an exit handler, so that destructors at exit are not taken for
// unloads. Called at start.
void mprof_unload_init(void);

#endif // MPROF_RT_ENTRY_ENTRY_UNLOAD_H
