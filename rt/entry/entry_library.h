// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries for sites in shared libraries that have a private allocator. Blocks
// of a private allocator must not reach the program's allocator and are not
// counted.

#ifndef MPROF_RT_ENTRY_ENTRY_LIBRARY_H
#define MPROF_RT_ENTRY_ENTRY_LIBRARY_H

#include "sys/abi_words.h"

// The hook of one heap function in the code of a shared library. Sites of the
// library read the function through word and call entry. At first
// both lead to functions that bind the hook, either to the program's f or to
// the library's own f.
// Fields are accessed atomically; all threads that write a field write equal
// values.
struct __mprof_module_hook {
  void *const *word;
  void *entry;
  void *lazy;                  // what word points to before the hook is bound
  void *const *program_s_word; // &__mprof_next_f
  void *program_s_entry;       // __mprof_f
  // The f to which the library's own references are bound, and the function
  // that replaces the entry if own is not the program's f.
  void *own;
  void *own_entry;
};
// Binds a hook.
MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *hook);
// Gives up a sample, since the site's block of size bytes is not counted. If
// the site's subtraction has used up the countdown, the sample must be lost
// with the block. Otherwise the next sites' blocks would stand for this one.
MPROF_ENTRY void __mprof_drop_sample(size_t size);

#endif // MPROF_RT_ENTRY_ENTRY_LIBRARY_H
