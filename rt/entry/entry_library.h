// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Libraries that are loaded and unloaded while the program runs. The calls of
// heap functions of a loaded library may not reach the interceptors.

#ifndef MPROF_RT_ENTRY_ENTRY_LIBRARY_H
#define MPROF_RT_ENTRY_ENTRY_LIBRARY_H

#include "sys/abi_words.h"

#include <stddef.h>

// A function that the calls of loaded libraries are to reach.
struct mprof_replacement {
  const char *name;
  void *beneath; // the definition that libraries call without MProf
  void *own;     // MProf's definition
};

// NULL, or the function of libmprof_preload.so that writes its other
// definitions to v, at most cap, and returns their number. Set at start.
extern size_t (*mprof_load_more)(struct mprof_replacement *v, size_t cap);

// Counts the libraries that now call libc's heap functions directly, as losses.
// Called once, when the process ends. Takes the loader's lock if a library was
// loaded after the start.
void mprof_load_count_lost(void);

// Records that the library that contains the address `inside` is being
// unloaded. The last destructor of an instrumented shared library calls this
// function. Other code may later be loaded there, and stacks would be shown
// with its names (module_unloads.h).
MPROF_ENTRY void __mprof_module_unloads(const void *inside);

// Registers an exit handler, so that destructors that run at exit do not count
// as unloads. Called at start.
void mprof_unload_init(void);

#endif // MPROF_RT_ENTRY_ENTRY_LIBRARY_H
