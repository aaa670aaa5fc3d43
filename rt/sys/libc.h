// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hides the differences between the declarations of glibc and musl, and between
// programs with and without MemorySanitizer, and finds functions of libraries
// that the program opens at run time. Some functions of glibc do not exist in
// musl. This header declares these functions for musl, too, but their addresses
// are NULL at run time. With musl, the runtime's entries for these functions
// are never called, because a program that calls such a function does not link.

#ifndef MPROF_RT_SYS_LIBC_H
#define MPROF_RT_SYS_LIBC_H

#include "sys/base.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __GLIBC__

// The type with which pthread_cleanup_push records a cleanup handler; see
// CANCELLATION_POINT in entry_lock.h.
typedef struct _pthread_cleanup_buffer mprof_cleanup;

// Returns whether a pthread_barrier_wait with this result may have waited. With
// glibc, all threads wait at the barrier except the last thread to arrive. The
// last thread gets PTHREAD_BARRIER_SERIAL_THREAD, and the other threads get 0.
static inline bool mprof_may_have_waited(int result) { return result == 0; }

#else // musl

#include <semaphore.h>
#include <signal.h>
#include <time.h>

struct epoll_event;

typedef struct __ptcb mprof_cleanup;

// With musl, the first thread to arrive at the barrier gets
// PTHREAD_BARRIER_SERIAL_THREAD, and all other threads get 0. All threads wait
// except the last thread to arrive. So a thread with either result may have
// waited.
static inline bool mprof_may_have_waited(int result) {
  return result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD;
}

void *pvalloc(size_t size);
int pthread_mutex_clocklock(pthread_mutex_t *, clockid_t,
                            const struct timespec *);
int pthread_rwlock_clockrdlock(pthread_rwlock_t *, clockid_t,
                               const struct timespec *);
int pthread_rwlock_clockwrlock(pthread_rwlock_t *, clockid_t,
                               const struct timespec *);
int pthread_cond_clockwait(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                           const struct timespec *);
int sem_clockwait(sem_t *, clockid_t, const struct timespec *);
int pthread_clockjoin_np(pthread_t, void **, clockid_t,
                         const struct timespec *);
int epoll_pwait2(int, struct epoll_event *, int, const struct timespec *,
                 const sigset_t *);
int fcntl64(int, int, ...);

#endif

// --- MemorySanitizer, which does not see what the runtime writes ---

// NULL if the program is not compiled with MemorySanitizer.
extern void __msan_init(void) __attribute__((weak));
// Only called, because a test of its address would make the dynamic linker look
// it up at the start of each program.
extern void __msan_unpoison(const volatile void *p, size_t len)
    __attribute__((weak));

// Reports that the runtime has written len bytes at p.
static inline void mprof_msan_unpoison(const volatile void *p, size_t len) {
  if (__msan_init)
    __msan_unpoison(p, len);
}

// --- functions that are found late (resolve_late.c) ---
//
// Finds functions of other libraries when they are first called: the real
// definitions of hooked functions that are not in libc, such as operator new.
// The runtime's entries have weak references to these functions. If a program
// opens its first C++ library at run time, the loader cannot bind these
// references at start, and they are NULL. In this case the runtime asks the
// loader for a function when the function is first called.

// The cached result of a search.
struct mprof_found {
  // The number of unloads that had been reported when the search began, or a
  // special value; see resolve_late.c.
  _Atomic uint64_t when;
  _Atomic(void *) function;
};

// Evaluates to the address of the function f. If f did not exist when the
// program started, evaluates to the f that the calling library uses. Use this
// macro in an entry, that is, in the runtime's function that the program calls
// in place of f.
#define REAL(f) REAL_(f)
#define REAL_(f)                                                               \
  ({                                                                           \
    __typeof__(&f) real_ = f;                                                  \
    mprof_unlikely(!real_) ? LATE(f) : real_;                                  \
  })

// Evaluates to the f that the calling library uses, or to NULL. Use this macro
// in an entry.
#define LATE(f)                                                                \
  ({                                                                           \
    static struct mprof_found found_;                                          \
    (__typeof__(&f))mprof_resolve_late(#f, &found_,                            \
                                       __builtin_return_address(0));           \
  })

// Calls the function f with the arguments Args, like REAL(f) Args, but f costs
// nothing at start. A test of f's address would make the dynamic linker look up
// f at the start of each program. A direct call does not, because the linker
// binds it when it is first made. So this macro tests the address of First,
// another function of the same library that every user of f also has.
#define CALL_REAL(First, f, Args)                                              \
  (mprof_likely(&First != NULL) ? f Args : LATE(f) Args)

// Asks the loader for the function named `symbol`. Called if the runtime's weak
// reference to this function is NULL. caller: an address in the library that
// calls the function. The result is cached in *found until a library is
// unloaded, because the unload may remove the function. Takes no lock except
// the loader's. Does not change errno. Returns NULL if there is no such
// function.
void *mprof_resolve_late(const char *symbol, struct mprof_found *found,
                         void *caller);

// Returns the number of mprof_resolve_forget calls, that is, of reported
// unloads.
uint64_t mprof_resolve_unloads(void);
// Makes the cached results invalid. Called before or after a library is
// unloaded. Signal safe.
void mprof_resolve_forget(void);

// --- libgcc_s ---

// Lets code with cleanups do without a reference to libgcc_s. A function with
// the attribute cleanup refers to the functions __gcc_personality_v0 and
// _Unwind_Resume, which libgcc_s calls or defines. Because of such a reference,
// each C program would load libgcc_s at its start. But an exception can only
// pass through the function after C++ code has loaded libgcc_s.
//
// A file with such a function has the line MPROF_WITHOUT_LIBGCC_S;. The runtime
// is compiled with -fno-addrsig, because address-significance tables would
// still name the two functions.

int mprof_gcc_personality(int version, int actions, uint64_t class,
                          void *exception, void *context);
void mprof_unwind_resume(void *exception);

// Makes both names mean the functions above in this file.
#define MPROF_WITHOUT_LIBGCC_S                                                 \
  __asm__(".set __gcc_personality_v0, mprof_gcc_personality\n"                 \
          ".set _Unwind_Resume, mprof_unwind_resume")

#endif // MPROF_RT_SYS_LIBC_H
