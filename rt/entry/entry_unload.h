// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects unloads of libraries (entry_unload.c). Other code may later be loaded
// at the addresses of an unloaded library. Without this module, stacks with
// addresses in the unloaded library would be shown with the names of the other
// code (module_unloads.h).

#ifndef MPROF_RT_ENTRY_ENTRY_UNLOAD_H
#define MPROF_RT_ENTRY_ENTRY_UNLOAD_H

#include "sys/abi_words.h"

// Records that the library that contains the address `inside` is being
// unloaded. The last destructor of an instrumented shared library calls this
// function.
MPROF_ENTRY void __mprof_module_unloads(const void *inside);

// Registers an exit handler, so that destructors that run at exit do not count
// as unloads. Called at start.
void mprof_unload_init(void);

#endif // MPROF_RT_ENTRY_ENTRY_UNLOAD_H
