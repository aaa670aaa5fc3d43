// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The addresses of the hooked functions that unlock or may wait. The entries
// call these functions by their addresses and not by their names. A reference
// by name would make the dynamic linker look up the function at start, in each
// program, although most programs use only some of these functions.

#ifndef MPROF_RT_LOCK_WAIT_HOOKED_H
#define MPROF_RT_LOCK_WAIT_HOOKED_H

#include "sys/base.h"

enum mprof_hooked {
#define MPROF_RELEASE(Symbol, Proto, Object) MPROF_HOOKED_##Symbol,
#define MPROF_WAIT(Symbol, Proto, Kind) MPROF_HOOKED_##Symbol,
#include "mprof/hooks.def"
  MPROF_HOOKED_COUNT
};

// The address of each function, or NULL. An address is set before the switch of
// the function (switches.h) first leads to its entry, so it is never NULL in an
// entry. Written under registry_lock, and by mprof_hooked_find_all. Hidden, so
// that an entry jumps to the function by a single instruction.
extern MPROF_HIDDEN void *mprof_hooked_functions[MPROF_HOOKED_COUNT];

// Evaluates to the hooked function f, for a call or for its address. The
// address may change when a library is loaded. So code that needs it twice must
// load it once, with LOAD_HOOKED.
#define HOOKED(f) HOOKED_(f)
#define HOOKED_(f) ((HOOKED_TYPE(f))mprof_hooked_functions[MPROF_HOOKED_##f])
#define HOOKED_TYPE(f) __typeof__(&f)
#define LOAD_HOOKED(f) LOAD_HOOKED_(f)
#define LOAD_HOOKED_(f)                                                        \
  ((HOOKED_TYPE(f))__atomic_load_n(&mprof_hooked_functions[MPROF_HOOKED_##f],  \
                                   __ATOMIC_RELAXED))

// Returns the number (enum mprof_hooked) of the function whose entry is
// `entry`, or -1.
int mprof_hooked_of_entry(uintptr_t entry);
// Returns the number of the function at address fn, or -1. If two functions
// have the same address, returns the first one in hooks.def.
int mprof_hooked_at(uintptr_t fn);
// Returns the linkage name of a function.
const char *mprof_hooked_symbol(int number);

// Returns whether libc has a function of this name.
bool mprof_hooked_is_of_libc(int number);

// Finds the addresses of all functions that are in libc. Afterwards
// mprof_hooked_at also knows the functions that only uninstrumented code calls.
// Takes the loader's lock. Call while no lock is held.
void mprof_hooked_find_all(void);

#endif // MPROF_RT_LOCK_WAIT_HOOKED_H
