// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries for sites in shared libraries that have a private allocator. The
// blocks of a private allocator must not be passed to the program's allocator,
// and they are not counted.

#ifndef MPROF_RT_ENTRY_ENTRY_LIBRARY_H
#define MPROF_RT_ENTRY_ENTRY_LIBRARY_H

#include "sys/abi_words.h"

// The hook of one heap function f in the code of a shared library. Sites of the
// library call f through word and call the runtime through entry. At first,
// word and entry lead to functions that bind the hook, either to the program's
// f or to the library's own f. Threads access the fields atomically. All
// threads that write a field write the same value.
struct __mprof_module_hook {
  void *const *word;
  void *entry;
  void *lazy;                  // target of word before the hook is bound
  void *const *program_s_word; // &__mprof_next_f
  void *program_s_entry;       // __mprof_f
  // own: the f that the dynamic linker binds the library's references to.
  // own_entry: replaces entry if own is not the program's f.
  void *own;
  void *own_entry;
};
// Binds a hook.
MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *hook);
// Drops a sample because the site's block of size bytes is not counted. If the
// site's subtraction has used up the countdown, the runtime must drop the
// sample with the block. Otherwise the blocks of the next sites would be
// counted in place of this block.
MPROF_ENTRY void __mprof_drop_sample(size_t size);

#endif // MPROF_RT_ENTRY_ENTRY_LIBRARY_H
