// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal handler may unload a library although it has interrupted the
// runtime, which holds the lock of the list of libraries. The unload does not
// wait for the lock, and the runtime no longer sets the library's switches.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t
// RUN: timeout 600 %t

#include "core.h"

#include "lock_wait/hooked.h"
#include "sys/lock.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <pthread.h>

extern char entry[] __asm__("__mprof_pthread_mutex_timedlock");

static struct __mprof_switch switches[2];
static struct __mprof_switches modules[2];

static void add(int i) {
  switches[i] =
      (struct __mprof_switch){.target = (void *)pthread_mutex_timedlock,
                              .function = (void *)pthread_mutex_timedlock,
                              .entry = entry,
                              .kind = MPROF_KIND_mutex};
  modules[i] =
      (struct __mprof_switches){.begin = &switches[i], .end = &switches[i] + 1};
  __mprof_register_switches(&modules[i]);
}

static void set(uint64_t kinds) {
  mprof_lock_acquire(&mprof_registry_lock);
  mprof_switches_set_locked(kinds);
  mprof_lock_release(&mprof_registry_lock);
}

int main(void) {
  for (int i = 0; i < 2; i++)
    add(i);
  CHECK(mprof_guard_enter());
  set((uint64_t)1 << MPROF_KIND_mutex);
  CHECK_EQ(switches[0].is_on, 1);
  CHECK_EQ(switches[1].is_on, 1);

  mprof_lock_acquire(&mprof_registry_lock);
  __mprof_unregister_switches(&modules[1]); // as if in a handler
  __mprof_unregister_switches(&modules[0]);
  mprof_lock_release(&mprof_registry_lock);

  set(0);
  CHECK_EQ(switches[0].is_on, 1);
  CHECK_EQ(switches[1].is_on, 1);
  mprof_guard_leave();
  return 0;
}
