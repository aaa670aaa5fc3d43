// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hides the differences between the declarations of glibc and musl, and between
// programs with and without MemorySanitizer. Some
// functions of glibc do not exist in musl. This header declares these functions
// for musl, too, but their addresses are NULL at run time. With musl, the
// runtime's entries for these functions are never called, because a program
// that calls such a function does not link.

#ifndef MPROF_RT_SYS_LIBC_H
#define MPROF_RT_SYS_LIBC_H

#include "sys/base.h"

#include <pthread.h>
#include <stdbool.h>

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

#endif // MPROF_RT_SYS_LIBC_H
