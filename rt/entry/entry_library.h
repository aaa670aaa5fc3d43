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

// The hook of one heap function f in the code of a shared library. The call
// sites of the library call f through *word, and call the runtime through
// `entry`. At first, *word and `entry` refer to functions that bind the hook by
// __mprof_module_binds: they set `word` and `entry` either for the program's f
// or for the library's own f. Threads access the fields atomically. All threads
// that bind the hook write the same values.
struct __mprof_module_hook {
  void *const *word;
  void *entry;
  void *lazy; // function that *word refers to until the hook is bound
  void *const *program_s_word; // &__mprof_next_f
  void *program_s_entry;       // __mprof_f
  // own: the function to which the dynamic linker binds the library's
  // references to f. own_entry: `entry` if f is private to the library.
  void *own;
  void *own_entry;
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
