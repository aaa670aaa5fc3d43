// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Libraries that are loaded while the program runs, and whose calls of heap
// functions do not reach the interceptors (entry_load.c).

#ifndef MPROF_RT_ENTRY_ENTRY_LOAD_H
#define MPROF_RT_ENTRY_ENTRY_LOAD_H

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

#endif // MPROF_RT_ENTRY_ENTRY_LOAD_H
