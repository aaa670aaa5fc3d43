// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The references of a loaded module to functions of other modules. For each
// reference, the module has a word with the function's address, which the
// dynamic linker has written (a relocation). Code can read these words, and can
// change them, so that the module calls another function.

#ifndef MPROF_RT_PROCESS_RELOCATIONS_H
#define MPROF_RT_PROCESS_RELOCATIONS_H

#include <stdbool.h>

struct dl_phdr_info;

struct mprof_reference {
  const char *name; // of the symbol
  void *now;        // the word's value
  // False: `now` is an address in the module's own code, which finds the
  // function at the first call (lazy binding).
  bool is_bound;
  // Whether the word belongs to the module's calls. Otherwise it belongs to
  // data of the module that contain the function's address.
  bool is_of_calls;
};

// Returns the new value of the word, or NULL to leave the word as it is.
typedef void *mprof_replace_fn(const struct mprof_reference *reference,
                               void *arg);

// Calls `replace` for each reference of the module, and writes the value that
// it returns. Makes pages that are read-only after relocation (RELRO) writable
// for the moment of a write. Leaves these pages as they are if they are not yet
// read-only, because another thread's dlopen then relocates the module. Other
// threads may execute the module's code meanwhile. Keeps errno, and allocates
// no memory. Call it in a callback of dl_iterate_phdr, so that the module stays
// loaded; `replace` must not call the loader.
void mprof_relocations_replace(const struct dl_phdr_info *info,
                               mprof_replace_fn *replace, void *arg);

#endif // MPROF_RT_PROCESS_RELOCATIONS_H
