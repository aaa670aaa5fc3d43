// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See persist_watch.h. The thread looks at the file from time to time, instead
// of waiting for the kernel's signal: a thread that takes signals could take
// one that was sent to the program.

#include "persist_watch.h"

#include "file/persist.h"
#include "options/flags.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/threads.h"

enum { STACK_BYTES = 64 << 10 };

static void *run(void *arg) {
  mprof_own_thread_begin(MPROF_OWN_PERSIST, "mprof-persist");
  const int tid = mprof_sys_gettid();
  unsigned ms;
  while ((ms = mprof_persist_look(tid)) != 0)
    mprof_sys_sleep_ms(ms);
  mprof_own_thread_end(MPROF_OWN_PERSIST);
  return arg;
}

// Without the thread, the process is as safe as on a file system without
// leases, so a failure needs no message.
void mprof_persist_watch_start(void) {
  if (mprof_flags.persist[0] == '\0' || !mprof_guard_enter())
    return;
  mprof_own_thread_start(run, STACK_BYTES);
  mprof_guard_leave();
}
