// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects unloads of libraries (entry_unload.c). Stacks in unloaded code must
// not be taken for code that is later loaded at the same addresses
// (module_unloads.h).

#ifndef MPROF_RT_ENTRY_ENTRY_UNLOAD_H
#define MPROF_RT_ENTRY_ENTRY_UNLOAD_H

#include "sys/abi_words.h"

// Notes that the library that contains the address inside is being unloaded.
// Called by the last destructor of an instrumented shared library.
MPROF_ENTRY void __mprof_module_unloads(const void *inside);

// Registers for the exit of the process, so that the destructors that run then
// are not taken for unloads. Called at start.
void mprof_unload_init(void);

#endif // MPROF_RT_ENTRY_ENTRY_UNLOAD_H
