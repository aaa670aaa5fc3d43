// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry that a library's last destructor calls.

#ifndef MPROF_RT_ENTRY_ENTRY_UNLOAD_H
#define MPROF_RT_ENTRY_ENTRY_UNLOAD_H

#include "sys/abi_words.h"

// Called by the last destructor of a shared library, in which inside points.
MPROF_ENTRY void __mprof_module_unloads(const void *inside);

// At start, so that an exit is not taken for unloads.
void mprof_unload_init(void);

#endif // MPROF_RT_ENTRY_ENTRY_UNLOAD_H
