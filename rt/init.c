// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See init.h. The only constructor and destructor of the runtime.

#include "init.h"

#include "bucket.h"
#include "contention.h"
#include "custom_blocks.h"
#include "custom_profile.h"
#include "cycle.h"
#include "epochs.h"
#include "event.h"
#include "fastpath.h"
#include "flags.h"
#include "holds.h"
#include "labels.h"
#include "livemap.h"
#include "lock_names.h"
#include "mprof/mprof.h"
#include "next.h"
#include "sample.h"
#include "signals.h"
#include "stuck.h"
#include "thread_stacks.h"
#include "thread_starts.h"
#include "threads.h"
#include "trace.h"
#include "unwind.h"
#include "waiters.h"
#include "writer.h"

#include <pthread.h>
#include <stdlib.h>

// In libmprof_gc.a, which a program linked by hand may not have.
extern void mprof_gc_reset(void) __attribute__((weak));

const char MPROF_ABI_NAME(MPROF_ABI_VERSION) = 1;
void *__mprof_main_frame;

enum { NOT_STARTED, STARTING, READY, INERT };
static atomic_int state;
atomic_bool mprof_is_ready;

// The runtime may be in the process twice: in the program and, linked by
// mistake or by the config file, in one of its libraries. The dynamic linker
// binds all entries to the first; the other must not write profiles of its
// own. It is the one whose symbol is bound elsewhere: a hidden alias gives the
// own address.
#define STRING_(x) #x
#define STRING(x) STRING_(x)
extern const char mprof_own_abi __attribute__((
    alias(STRING(MPROF_ABI_NAME(MPROF_ABI_VERSION))), visibility("hidden")));

static bool is_first_copy(void) {
  const char *volatile bound = &MPROF_ABI_NAME(MPROF_ABI_VERSION);
  return bound == &mprof_own_abi;
}

atomic_uint mprof_epoch;

static atomic_int process_id; // whose profile this is

bool mprof_process_is_own(void) {
  return atomic_load_explicit(&process_id, memory_order_relaxed) ==
         mprof_sys_getpid();
}

// Whether the fork under way came from a signal handler that interrupted the
// runtime.
static _Thread_local bool forks_inside;

// No lock is taken: a handler of the program's that runs after this one may
// wait for a thread that waits for ours. What other threads were in the middle
// of does not matter, since the child takes over nothing. But the guard is: a
// handler in the child that runs before ours, since a library registered it
// first, must not wait for a lock that a thread of the parent has.
static void before_fork(void) { forks_inside = !mprof_guard_enter(); }

static void after_fork_in_parent(void) {
  if (!forks_inside)
    mprof_guard_leave();
}

// The child's profile starts empty: what it inherited is in its parent's.
static void after_fork_in_child(void) {
  atomic_fetch_add(&mprof_epoch, 1);
  atomic_store(&process_id, mprof_sys_getpid());
  if (forks_inside) {
    mprof_events_init_child(false);
    // The interrupted code goes on in the child with what it had in hand, so
    // nothing can be taken from under it: this child is not profiled.
    atomic_store(&mprof_is_ready, false);
    atomic_store(&state, INERT);
    // What was put off is the parent's; the mask may be an exec's next.
    if (mprof_tls.put_off != 0)
      mprof_signals_resume();
    return;
  }
  mprof_lock_reset(&mprof_writer_lock);
  mprof_lock_reset(&mprof_active_lock);
  mprof_lock_names_reset();
  mprof_symbolize_forget();
  mprof_epochs_reset();
  mprof_symbolize_turn_off(false);
  mprof_outfile_keep_others(false);
  mprof_bucket_reset();
  mprof_waiters_reset();
  mprof_trace_reset();
  mprof_thread_starts_reset();
  mprof_labels_reset();
  mprof_live_reset();
  mprof_custom_reset();
  mprof_custom_profiles_reset();
  if (mprof_gc_reset)
    mprof_gc_reset();
  mprof_threads_reset();
  mprof_thread_stacks_reset();
  mprof_stats_reset();
  mprof_cycle_reset();
  mprof_persistent_reset();
  mprof_contention_update_kinds();
  mprof_events_init_child(mprof_flags.children);
  mprof_guard_leave();
  if (mprof_flags.children) {
    mprof_trace_init();
    mprof_stuck_watch_start();
  } else {
    atomic_store(&mprof_is_ready, false);
    atomic_store(&state, INERT);
  }
}

// Whether nobody has written yet for *written_by, the id of a process: a forked
// child writes, too.
static bool is_first(atomic_int *written_by) {
  int pid = mprof_sys_getpid();
  return atomic_load(&state) == READY && mprof_process_is_own() &&
         atomic_exchange(written_by, pid) != pid;
}

static atomic_int ended; // the process that has written at its end

static void write_at_exit_once(void) {
  if (atomic_load(&state) == READY && !mprof_process_is_own())
    // What other threads of the parent were in the middle of stays so.
    mprof_message_always("wrote nothing: this process was made by _Fork, "
                         "clone or vfork, without fork handlers");
  else if (is_first(&ended)) {
    mprof_stuck_watch_stop();
    mprof_write_at_exit();
  }
}

void mprof_write_before_end(void) {
  if (mprof_flags.dump_on__exit && is_first(&ended))
    mprof_write_at_exit();
}

void mprof_write_before_exec(void) {
  static atomic_int replaced;
  if (mprof_flags.dump_on_exec && is_first(&replaced))
    mprof_write_at_exit();
}

static void start(void) {
  if (!is_first_copy()) {
    atomic_store(&state, INERT);
    return;
  }
  atomic_store(&process_id, mprof_sys_getpid());
  mprof_message_init();
  mprof_flags_init();
  if (mprof_persistent_init((size_t)mprof_flags.max_memory_mb << 20) != 0)
    mprof_message("no address space for the profiler; nothing is counted");
  mprof_next_find();
  mprof_entry_new_init();
  mprof_place_init();
  mprof_unwind_init();
  mprof_threads_init();
  mprof_unload_init();
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  mprof_holds_init();
  mprof_contention_init();
  mprof_sample_init(mprof_flags.heap ? mprof_flags.heap_rate : 0);
  mprof_events_init();
  // LeakSanitizer ends a leaking process in an exit handler that it registered
  // before this one, so the destructor would come too late.
  if (mprof_has_sanitizer())
    atexit(write_at_exit_once);
  at_quick_exit(write_at_exit_once);
  mprof_signals_init();
  atomic_store(&state, READY);
  atomic_store(&mprof_is_ready, true);
  mprof_next_start();
  mprof_trace_init();
}

bool mprof_init_is_inert(void) { return atomic_load(&state) == INERT; }

bool mprof_init_start(void) {
  int expected = NOT_STARTED;
  if (atomic_compare_exchange_strong(&state, &expected, STARTING))
    start();
  return atomic_load(&state) == READY;
}

// As early as the program's own constructors allow; events of other modules'
// constructors may come first and start the runtime themselves.
__attribute__((constructor(101))) static void at_load(void) {
  if (mprof_init_ready())
    mprof_stuck_watch_start();
}

// After the program's exit handlers and its other destructors.
__attribute__((destructor(101))) static void at_exit(void) {
  write_at_exit_once();
}

MPROF_PUBLIC size_t mprof_set_heap_rate(size_t bytes) {
  if (!mprof_init_ready() || !mprof_guard_enter())
    return 0;
  uint64_t before = mprof_sample_set_rate(bytes);
  mprof_guard_leave();
  return (size_t)before;
}
