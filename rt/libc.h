// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What glibc and musl declare differently. glibc's functions that musl does not
// have are declared with musl, too: there they are NULL, and their entries are
// never reached, since a program that calls one does not link.

#ifndef MPROF_RT_LIBC_H
#define MPROF_RT_LIBC_H

#include <pthread.h>
#include <stdbool.h>

#ifdef __GLIBC__

// What cancellation cleans up with; see POINT in entry_sync.h.
typedef struct _pthread_cleanup_buffer mprof_cleanup;

// By the result of pthread_barrier_wait: the last to come has not waited.
static inline bool mprof_may_have_waited(int result) { return result == 0; }

#else // musl

#include <semaphore.h>
#include <signal.h>
#include <time.h>

struct epoll_event;

typedef struct __ptcb mprof_cleanup;

// The first to come is told from the others, and not the last.
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

#endif // MPROF_RT_LIBC_H
