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
// entry. Before the hook is bound, word and entry lead to functions that bind
// it by __mprof_module_binds. The hook is bound either to the program's f or to
// the library's own f. Threads access the fields atomically. All threads that
// bind the hook write the same values.
struct __mprof_module_hook {
  void *const *word;
  void *entry;
  void *lazy; // function that *word refers to until the hook is bound
  void *const *program_s_word; // &__mprof_next_f
  void *program_s_entry;       // __mprof_f
  // The f to which the dynamic linker binds the library's references.
  void *own;
  void *own_entry;
};
// Binds a hook to the program's function or to the library's own function.
MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *hook);
// Drops the sample of a block that is not counted. size: bytes of the block,
// which the call site has subtracted from the countdown. If the countdown has
// run out, this function draws a new countdown. With the old countdown, a later
// block would be counted in place of this block.
MPROF_ENTRY void __mprof_drop_sample(size_t size);

#endif // MPROF_RT_ENTRY_ENTRY_LIBRARY_H
