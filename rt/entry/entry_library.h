// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of sites in shared libraries with an allocator of their own.

#ifndef MPROF_RT_ENTRY_ENTRY_LIBRARY_H
#define MPROF_RT_ENTRY_ENTRY_LIBRARY_H

#include "sys/abi_words.h"

// A hooked function of the heap in code of a shared library, whose sites call
// what word and entry point to: at first what binds them. Atomic; all who write
// a field write the same.
struct __mprof_module_hook {
  void *const *word;
  void *entry;
  void *lazy;                  // what word points to before it is bound
  void *const *program_s_word; // &__mprof_next_f
  void *program_s_entry;       // __mprof_f
  // f as the code's own reference has it, and what stands in for the entry
  // where that is not the program's.
  void *own;
  void *own_entry;
};
MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *hook);
// A block of size bytes is not to be counted. Where the countdown that its site
// took down has run out, a sample is lost with it, as it must be: what the next
// sites allocate would stand for this block else.
MPROF_ENTRY void __mprof_drop_sample(size_t size);

#endif // MPROF_RT_ENTRY_ENTRY_LIBRARY_H
