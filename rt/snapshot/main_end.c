// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes a snapshot of the heap at the end of main; see snapshot.h.
//
// glibc's exit first runs the destructors of the calling thread's thread_local
// objects, then the functions of atexit and the destructors of static objects,
// the newest first. The program may register such functions at any time, so an
// exit handler of the runtime would not be the first. A destructor of a
// thread_local object of the main thread is: only the destructors of the
// program's own thread_local objects of this thread run before it.

#include "snapshot/snapshot.h"

#include "bucket/counts.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

static struct mprof_mem_snapshot at_end; // valid if is_taken
static atomic_bool is_taken;

#ifdef __GLIBC__
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object,
                             void *module);

static void take(void *unused) {
  (void)unused;
  // Without the guard, exit was called in a signal handler that has interrupted
  // the runtime.
  if (!mprof_process_is_own() || !mprof_guard_enter())
    return;
  if (mprof_mem_snapshot_take(&at_end, mprof_cycle_dump_ends_it(true)) == 0)
    atomic_store(&is_taken, true);
  mprof_guard_leave();
}

void mprof_main_end_init(void) {
  if (!mprof_flags.main_profile || !mprof_flags.heap || !mprof_guard_enter())
    return;
  // A library may load the runtime in any thread.
  if (mprof_sys_gettid() != mprof_sys_getpid()) {
    mprof_message("main_profile=1 does nothing: a thread other than that of "
                  "main has loaded MProf");
    mprof_guard_leave();
    return;
  }
  const struct mprof_own_call before = mprof_own_call_begin();
  if (__cxa_thread_atexit_impl(take, NULL, &at_end) != 0)
    mprof_message("main_profile=1 does nothing: libc is out of memory");
  mprof_own_call_end(&before);
  mprof_guard_leave();
}
#else
void mprof_main_end_init(void) {
  if (mprof_flags.main_profile)
    mprof_message("main_profile=1 does nothing: only glibc runs a function at "
                  "the end of main");
}
#endif

bool mprof_main_has_ended(void) { return atomic_load(&is_taken); }

int mprof_main_end_copy(struct mprof_mem_snapshot *s) {
  *s = at_end;
  s->heapx = NULL;
  if (at_end.samples == NULL)
    return 0;
  s->samples = mprof_os_map(at_end.mapped_bytes);
  if (s->samples == NULL)
    return -ENOMEM;
  memcpy(s->samples, at_end.samples, at_end.len * sizeof(at_end.samples[0]));
  return 0;
}

void mprof_main_end_reset(void) {
  if (atomic_exchange(&is_taken, false))
    mprof_mem_snapshot_free(&at_end);
}
