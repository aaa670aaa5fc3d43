// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of libc that libmprof_preload.so defines for programs that were
// built without MProf: locks, waits, blocking calls, thread creation, dlopen,
// dlclose, _exit and the exec functions; and functions of liburing, which makes
// its system calls without libc. The dynamic linker binds the calls of the
// program and of all its libraries to these definitions. Each definition is a
// jump through the `target` of a switch (lock_wait/hooked.h):
//
//   program, library -> f of this library -> target --> f of libc
//                                                   `-> __mprof_f -> f of libc
//
// So a function whose kind of waits is off costs one jump. The runtime itself
// calls f of libc: the linker redirects its calls of f to __wrap_f (--wrap),
// which is a jump through the switch's field `function`.
//
// The allocation functions are in entry/intercept_heap.c, and the operators of
// C++ in operators.c.

#ifndef MPROF_RT_PRELOAD_CALLS_H
#define MPROF_RT_PRELOAD_CALLS_H

#include <stdbool.h>

// Finds libc's definitions of all functions, so that later calls need no
// loader, and gives their switches to the runtime. Call once, at start. Takes
// the loader's lock. Keeps errno.
void mprof_preload_calls_init(void);

// Returns whether `code` is the code of one of these functions, and no other
// library defines the function. Call after mprof_preload_calls_init.
bool mprof_preload_calls_is_missing(const void *code);

#endif // MPROF_RT_PRELOAD_CALLS_H
