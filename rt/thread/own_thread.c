// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts the runtime's own threads; see own_thread.h.

#include "thread/own_thread.h"

#include "sys/abi_words.h"
#include "sys/os_linux.h"
#include "sys/tls.h"

#include <pthread.h>
#include <signal.h>

atomic_int mprof_own_threads[MPROF_OWNS];

uint64_t mprof_own_thread_mask(void) {
  enum { FIRST_REAL_TIME = 32 }; // the kernel's; libc's SIGRTMIN is above
  uint64_t mask = UINT64_MAX;
  for (int sig = FIRST_REAL_TIME; sig < SIGRTMIN; sig++)
    mask &= ~(UINT64_C(1) << (sig - 1));
  return mask;
}

int mprof_own_thread_start(void *(*run)(void *), size_t stack_bytes) {
  pthread_t thread;
  pthread_attr_t attr;
  const uint64_t mask = mprof_sys_set_signal_mask(mprof_own_thread_mask());
  int error = -pthread_attr_init(&attr);
  if (error == 0) {
    pthread_attr_setstacksize(&attr, stack_bytes);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    // libc allocates memory for the new thread. This is no event of the calling
    // thread, so its countdown to the next sample stays as it is.
    const bool is_own = mprof_tls.is_own;
    const uint64_t rate_epoch = mprof_tls.rate_epoch;
    const int64_t countdown = __mprof_heap_countdown;
    mprof_tls.is_own = true;
    error = -pthread_create(&thread, &attr, run, NULL);
    mprof_tls.is_own = is_own;
    mprof_tls.rate_epoch = rate_epoch;
    __mprof_heap_countdown = countdown;
    pthread_attr_destroy(&attr);
  }
  mprof_sys_set_signal_mask(mask);
  return error;
}

void mprof_own_thread_begin(enum mprof_own own, const char *name) {
  mprof_tls.is_own = true;
  mprof_tls.guard = MPROF_GUARD_KEPT;
  atomic_store(&mprof_own_threads[own], mprof_sys_gettid());
  mprof_sys_set_own_name(name);
}

void mprof_own_thread_end(enum mprof_own own) {
  atomic_store(&mprof_own_threads[own], 0);
}

void mprof_own_threads_reset(void) {
  for (int i = 0; i < MPROF_OWNS; i++)
    atomic_store(&mprof_own_threads[i], 0);
}
