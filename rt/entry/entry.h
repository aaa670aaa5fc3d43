// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What other rooms call of the entries: their preparation at start, and
// libraries that are loaded and unloaded while the program runs.

#ifndef MPROF_RT_ENTRY_ENTRY_H
#define MPROF_RT_ENTRY_ENTRY_H

#include "sys/abi_words.h"

#include <stddef.h>

// --- libraries (entry_library.c) ---
//
// The calls of heap functions of a loaded library may not reach the
// interceptors.

// A function that the calls of loaded libraries are to reach.
struct mprof_replacement {
  const char *name;
  void *beneath; // the definition that libraries call without MProf
  void *own;     // MProf's definition
};

// NULL, or the function of libmprof_preload.so that writes its other
// definitions to v, at most cap, and returns their number. Set at start.
extern size_t (*mprof_load_more)(struct mprof_replacement *v, size_t cap);

// NULL, or the function that redirects the calls of the libraries that a call
// of dlopen has loaded. Set while a library that was itself loaded by dlopen
// profiles the process.
extern void (*mprof_load_after)(void);

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

// --- operators new and delete (entry_new.c) ---

// Sets the pointers __mprof_next_* of operators to functions of entry_new.c, in
// two cases. First, the program has no operators yet, because a library that
// the program opens later defines them. Second, the operators call an
// intercepted malloc. The runtime must then record the operator's call as the
// outermost allocation. Called once at start.
void mprof_entry_new_init(void);

// --- threads (entry_thread.c) ---
//
// What the entries of thread creation do in libmprof_preload.so.

// Tells the entry of pthread_create that libstdc++'s own calls reach it, too.
// These calls pass a start function of libstdc++ and a std::thread::_State. So
// the entry can find the function that the std::thread runs. Call once, at
// start. Takes the loader's lock.
void mprof_entry_thread_sees_library(void);

#endif // MPROF_RT_ENTRY_ENTRY_H
