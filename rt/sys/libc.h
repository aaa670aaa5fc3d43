// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hides the differences between the declarations of glibc and musl. Functions
// of glibc that musl lacks are declared for musl, too, where their addresses
// are NULL at run time. With musl, the runtime's entries for these functions
// are never called, because a program that calls such a function does not link.

#ifndef MPROF_RT_SYS_LIBC_H
#define MPROF_RT_SYS_LIBC_H

#include <pthread.h>
#include <stdbool.h>

#ifdef __GLIBC__

// Record of a cleanup handler for cancellation; see CANCELLATION_POINT in
// sync_entry.h.
typedef struct _pthread_cleanup_buffer mprof_cleanup;

// Returns whether a pthread_barrier_wait with this result may have waited. The
// last thread to arrive at the barrier does not wait, and with glibc that
// thread gets PTHREAD_BARRIER_SERIAL_THREAD instead of 0.
static inline bool mprof_may_have_waited(int result) { return result == 0; }

#else // musl

#include <semaphore.h>
#include <signal.h>
#include <time.h>

struct epoll_event;

typedef struct __ptcb mprof_cleanup;

// With musl, the first thread to arrive gets PTHREAD_BARRIER_SERIAL_THREAD, not
// the last. So either result may belong to a thread that has waited.
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

#endif // MPROF_RT_SYS_LIBC_H
