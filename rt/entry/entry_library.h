// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries for call sites in shared libraries that have a private allocator. An
// entry is a function of the runtime that instrumented code calls. Blocks of a
// private allocator must not be passed to the program's allocator. They are not
// counted.

#ifndef MPROF_RT_ENTRY_ENTRY_LIBRARY_H
#define MPROF_RT_ENTRY_ENTRY_LIBRARY_H

#include "sys/abi_words.h"

// The hook of one heap function in the code of a shared library; hooks.def
// explains the fields.
struct __mprof_module_hook {
#define MPROF_MODULE_HOOK_FIELD(Type, Name) Type Name;
#include "mprof/hooks.def"
};
// Binds a hook to the program's function or to the library's own function.
MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *hook);
// Called before the allocation of a block that is not counted. size: bytes of
// the block, which the call site has subtracted from the sampling countdown. If
// the countdown has run out, draws a new countdown, so that this sample is
// lost. With the old countdown, a later block would be counted in place of this
// block.
MPROF_ENTRY void __mprof_drop_sample(size_t size);

#endif // MPROF_RT_ENTRY_ENTRY_LIBRARY_H
