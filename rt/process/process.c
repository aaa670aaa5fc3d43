// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See process.h. The variable `state` changes from NOT_STARTED to STARTING and
// then to READY. `state` becomes and stays INERT in a second copy of the
// runtime in the process, and in a forked child that is not profiled.

#include "process/process.h"

#include "sys/os.h"

extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __lsan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));

enum { NOT_STARTED, STARTING, READY, INERT };
static atomic_int state;
atomic_bool mprof_is_ready;
atomic_uint mprof_epoch;
// Id of the process that the runtime's data describe.
static atomic_int process_id;

bool mprof_has_sanitizer(void) {
  return __asan_init || __tsan_init || __msan_init || __lsan_init ||
         __hwasan_init;
}

bool mprof_process_is_own(void) {
  return atomic_load_explicit(&process_id, memory_order_relaxed) ==
         mprof_sys_getpid();
}

void mprof_process_own(void) { atomic_store(&process_id, mprof_sys_getpid()); }

void mprof_process_begin_child(void) {
  atomic_fetch_add(&mprof_epoch, 1);
  mprof_process_own();
}

void mprof_process_set_ready(void) {
  atomic_store(&state, READY);
  atomic_store(&mprof_is_ready, true);
}

void mprof_process_set_inert(void) {
  atomic_store(&mprof_is_ready, false);
  atomic_store(&state, INERT);
}

bool mprof_process_has_started(void) { return atomic_load(&state) == READY; }

bool mprof_process_is_inert(void) { return atomic_load(&state) == INERT; }

bool mprof_process_start(void) {
  int expected = NOT_STARTED;
  if (atomic_compare_exchange_strong(&state, &expected, STARTING))
    mprof_process_start_parts();
  return atomic_load(&state) == READY;
}
