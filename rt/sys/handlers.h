// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers functions that libc calls at a fork and at the end of the process.
// In glibc, the usual functions for this are small functions that are linked
// into the program. The linker places them far from the runtime's functions for
// the start of the program, so each of them would make 64 KiB more of the
// program's file resident. So the runtime calls the functions of libc.so that
// these small functions call.

#ifndef MPROF_RT_SYS_HANDLERS_H
#define MPROF_RT_SYS_HANDLERS_H

#include <features.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef __GLIBC__
extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void *dso);
extern int __cxa_atexit(void (*fn)(void *), void *arg, void *dso);
extern int __cxa_at_quick_exit(void (*fn)(void *), void *dso);
extern void *__dso_handle __attribute__((visibility("hidden")));

// Like pthread_atfork.
static inline void mprof_at_fork(void (*prepare)(void), void (*parent)(void),
                                 void (*child)(void)) {
  __register_atfork(prepare, parent, child, &__dso_handle);
}
// Like atexit and at_quick_exit. fn ignores its argument.
static inline void mprof_at_exit(void (*fn)(void *unused)) {
  __cxa_atexit(fn, NULL, &__dso_handle);
}
static inline void mprof_at_quick_exit(void (*fn)(void *unused)) {
  __cxa_at_quick_exit(fn, &__dso_handle);
}
#else
static inline void mprof_at_fork(void (*prepare)(void), void (*parent)(void),
                                 void (*child)(void)) {
  pthread_atfork(prepare, parent, child);
}
extern int __cxa_atexit(void (*fn)(void *), void *arg, void *dso);
static inline void mprof_at_exit(void (*fn)(void *unused)) {
  __cxa_atexit(fn, NULL, NULL);
}
static void (*mprof_quick_exit_handler)(void *unused);
static inline void mprof_run_quick_exit_handler(void) {
  mprof_quick_exit_handler(NULL);
}
// Call this once only.
static inline void mprof_at_quick_exit(void (*fn)(void *unused)) {
  mprof_quick_exit_handler = fn;
  at_quick_exit(mprof_run_quick_exit_handler);
}
#endif

#endif // MPROF_RT_SYS_HANDLERS_H
