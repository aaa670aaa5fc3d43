// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The definitions of operator new and delete in libmprof_preload.so. They
// replace those of the C++ library, which call malloc and free: a call of the
// C++ library and of its jump to malloc costs more than what the interceptor
// adds. They also count the blocks of an allocator library whose own operators
// do not call malloc, such as libtcmalloc.so.
//
//   program, library -> f of this library -> malloc or free of the allocator
//                                        `-> the next f after this library's
//
// The first way is taken if it does the same as the second: if all operators
// after this library's come from a C++ library or from the allocator's library,
// and the program defines none. Otherwise each operator passes all calls on to
// the next definition, whose calls of malloc and free are counted.
//
// If there is no next definition at start, the definitions are taken back
// (preload.c).

#ifndef MPROF_RT_PRELOAD_PRELOAD_H
#define MPROF_RT_PRELOAD_PRELOAD_H

#include <stdbool.h>

// Finds the next definitions of the operators, and decides between the ways
// above. Only the first call does the work. Takes the loader's lock. Keeps
// errno.
void mprof_preload_operators_init(void);

// Returns whether `code` is in the code of the operators, and no other library
// defines operators. Call after the function above.
bool mprof_preload_operators_is_missing(const void *code);

// --- a process that loads the library by dlopen (late.c) ---
//
// libmprof_preload.so in a process that loads it by dlopen, such as one to
// which `mprof attach` attaches. The loader has already bound the calls of all
// modules, so the library changes the modules' references to libc's functions
// (process/modules.h) when profiling starts, and changes them back when it
// stops.

// Returns the definition of the function that the program's calls reach without
// MProf, or NULL. Takes the loader's lock.
void *mprof_late_find(const char *name);

#endif // MPROF_RT_PRELOAD_PRELOAD_H
