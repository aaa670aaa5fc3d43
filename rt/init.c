// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts and ends the runtime, and starts it anew in a forked child; see
// init.h. This file has the runtime's only constructor and destructor.

#include "init.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/custom_profile.h"
#include "bucket/peak.h"
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "exit.h"
#include "file/outfile.h"
#include "file/persist.h"
#include "heap/beneath.h"
#include "heap/event.h"
#include "heap/gc.h"
#include "heap/livemap.h"
#include "heap/observers.h"
#include "http/server.h"
#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "lock_wait/hooked.h"
#include "lock_wait/lock_graph.h"
#include "lock_wait/lock_order.h"
#include "lock_wait/waiters.h"
#include "memory/mapped_ranges.h"
#include "mprof/mprof.h"
#include "options/flags.h"
#include "process/helper_environment.h"
#include "process/process.h"
#include "snapshot/snapshot.h"
#include "symbolize/module_unloads.h"
#include "symbolize/symbolize.h"
#include "sys/abi_words.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/labels.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"
#include "thread_stacks/thread_starts.h"
#include "trace/trace.h"
#include "unwind/python.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

const char MPROF_ABI_NAME(MPROF_ABI_VERSION) = 1;

// Returns whether this is the first copy of the runtime in the process. There
// may be two: one in the program, and one in a library that was linked with the
// runtime by mistake or because of mprof.cfg, the config file for clang. The
// dynamic linker binds all entries to the first copy, so the second copy must
// not write profiles. Each copy compares two addresses: the address that the
// dynamic linker has bound the symbol __mprof_copy_v<N> to, and the address of
// the copy's own symbol, which a hidden alias gives. The addresses differ in
// the second copy. Instrumented code does not refer to this symbol. Otherwise a
// program that is not position-independent would get a copy of the symbol from
// libmprof_rt.so.
#define COPY_NAME_(v) __mprof_copy_v##v
#define COPY_NAME(v) COPY_NAME_(v)
#define STRING_(x) #x
#define STRING(x) STRING_(x)
extern MPROF_DATA const char COPY_NAME(MPROF_ABI_VERSION);
const char COPY_NAME(MPROF_ABI_VERSION) = 1;
extern const char mprof_own_copy __attribute__((
    alias(STRING(COPY_NAME(MPROF_ABI_VERSION))), visibility("hidden")));

static bool is_first_copy(void) {
  const char *volatile bound = &COPY_NAME(MPROF_ABI_VERSION);
  return bound == &mprof_own_copy;
}

// Returns whether MProf has started this process for itself.
static bool is_helper(void) {
  return mprof_flags_environment(MPROF_HELPER_VARIABLE) != NULL;
}

// --- the table of subsystems ---

static void none(void) {}

static void reset_writer(void) {
  mprof_lock_reset(&mprof_writer_lock);
  mprof_symbolize_forget();
  mprof_symbolize_turn_off(false);
  mprof_outfile_keep_others(false);
  mprof_keep_reset();
}

// Returns how much persistent memory the buffers of the trace may take, in MiB:
// with the option persist, they lie in it. Their limit is doubled while the
// trace of a flight recorder is written.
static size_t trace_mb(void) {
  const size_t last = mprof_flags.trace_last_mb, max = mprof_flags.trace_max_mb;
  return mprof_flags.persist[0] == '\0' ? 0 : 2 * (last != 0 ? last : max);
}

static void start_memory(void) {
  if (mprof_persistent_init((size_t)mprof_flags.max_memory_mb << 20,
                            trace_mb() << 20) != 0)
    mprof_message("nothing is profiled: cannot reserve address space for the "
                  "profiler; set a lower max_memory_mb");
  else
    mprof_persist_start();
}

static void find_beneath(void) { mprof_next_find(); }

MPROF_ENTRY void __mprof_free(void *ptr);
static void find_place(void) { mprof_place_init(__mprof_free); }

static void start_sampling(void) {
  mprof_sample_init(mprof_flags.heap ? mprof_flags.heap_rate : 0);
}

static const struct {
  void (*start)(void), (*reset)(void);
} subsystems[] = {
#define MPROF_SUBSYSTEM(Rank, Start, Reset) {Start, Reset},
#include "subsystems.def"
};
enum { SUBSYSTEMS = sizeof(subsystems) / sizeof(subsystems[0]) };

// --- a library that the program loads itself: its state ---

// State of the profiling that mprof_start begins. STOPPED: it has run before.
enum late { NEVER, CHANGING, RUNNING, STOPPED };
static atomic_int late; // enum late

// In variables: in code, gold does not make the addresses NULL.
static bool (*const volatile is_late)(void) = mprof_init_is_late;
static void (*const volatile set_late)(bool) = mprof_late_set;

static void set_rates(uint64_t heap, uint64_t block, uint64_t mutex) {
  mprof_sample_set_rate(heap);
  mprof_contention_set_block_rate(block);
  mprof_contention_set_mutex_fraction(mutex > INT_MAX ? INT_MAX : (int)mutex);
}

// A process that has stopped writes nothing at its end, and counts nothing if
// it calls MProf's functions by pointers that it has read before.
static void set_stopped(void) {
  mprof_flags.profile = mprof_flags.report = false;
  set_rates(0, 0, 0);
  atomic_store(&late, STOPPED);
}

// --- fork ---

// True if a signal handler that interrupted the runtime calls fork.
static _Thread_local bool forks_inside;

// Takes no lock, because a lock of the runtime could cause a deadlock. Another
// fork handler of the program may run after this handler, and may wait for a
// thread that waits for the runtime's lock. Because no lock is held, other
// threads may be in the middle of the runtime's functions at the fork. This
// does no harm, because the child resets all data.
//
// Sets the recursion guard. A fork handler that a library registered earlier
// runs in the child before the runtime's handler. While the guard is set,
// events of the library's handler are dropped. So they do not wait for a lock
// that was held by a thread of the parent.
static void before_fork(void) {
  forks_inside = !mprof_guard_enter_as(MPROF_GUARD_KEPT);
}

static void after_fork_in_parent(void) {
  if (!forks_inside)
    mprof_guard_leave();
}

// Restarts the runtime in the child after everything was reset.
static void begin_in_child(void) {
  const bool follows = mprof_flags.follow_fork && !is_helper();
  mprof_contention_update_kinds();
  mprof_observe_init_child(follows);
  mprof_ranges_begin_child(follows);
  mprof_guard_leave();
  if (follows) {
    mprof_trace_init();
    mprof_watch_start();
    mprof_cpu_init();
    mprof_http_start_in_child();
    mprof_control_signal_start();
  } else if (atomic_load(&late) != NEVER) {
    // The child runs without MProf, and may be attached to later.
    set_late(false);
    set_stopped();
  } else {
    mprof_process_set_inert();
  }
}

// Resets all data of the runtime. The child's profile starts empty, because the
// inherited data are in the parent's profile. Only the mapped ranges stay: the
// child has inherited the memory, too.
static void after_fork_in_child(void) {
  mprof_persist_begin_child();
  mprof_process_begin_child();
  if (forks_inside) {
    mprof_observe_init_child(false);
    mprof_http_reset();
    // The interrupted code continues in the child and uses the runtime's
    // objects, so they cannot be reset. This child is not profiled.
    mprof_process_set_inert();
    // The deferred signals stay with the parent. But the child has inherited
    // the mask that blocks these signals, and an exec would inherit it, too.
    if (mprof_tls.put_off != 0)
      mprof_tls_deliver_signals();
    return;
  }
  for (size_t i = 0; i < SUBSYSTEMS; i++)
    subsystems[i].reset();
  begin_in_child();
}

// --- the end of the process ---

// Returns whether this process has not written its output yet. *written_by is
// the id of the process that wrote last, and is set to the id of this process.
// A forked child inherits the parent's id in *written_by, so the child writes
// its own output. Returns false in a child that ran no fork handlers.
static bool is_first(atomic_int *written_by) {
  int pid = mprof_sys_getpid();
  return mprof_process_is_own() && atomic_exchange(written_by, pid) != pid;
}

static atomic_int ended; // id of the process that has written its exit output

// Makes no system call if there is nothing to write, because a seccomp filter
// may kill the process for the call.
static void write_once(enum mprof_end end, const struct mprof_caller *caller) {
  if (!mprof_process_has_started())
    return;
  mprof_snapshot_watch_stop();
  mprof_wall_stop();
  mprof_http_end();
  const bool has_output = mprof_has_output();
  if (!has_output)
    mprof_persist_end();
  if (!has_output && !mprof_must_say_no_output())
    return;
  if (mprof_process_is_own()) {
    if (!is_first(&ended))
      return;
    if (mprof_flags.stuck_report != 0)
      mprof_stuck_watch_stop();
    if (has_output)
      mprof_write_at_exit(end, caller);
    else
      mprof_say_no_output();
    mprof_stuck_watch_say_none();
  } else if (has_output) {
    // Other threads of the parent may have been inside the runtime when the
    // process was copied. Their locks stay held in this copy, and their changes
    // stay incomplete. Therefore this process writes nothing.
    mprof_message_always("wrote nothing: _Fork, clone or vfork created this "
                         "process without running fork handlers");
  }
}

static void write_at_exit_once(void) {
  struct mprof_caller caller;
  MPROF_CALLER(&caller);
  write_once(MPROF_END_OTHER, &caller);
}

// Returns whether the process must write its output before it calls a function
// that runs no destructors.
static bool must_write(bool option) {
  return option && mprof_process_has_started() && mprof_has_output();
}

void mprof_write_before_end(void) {
  struct mprof_caller caller;
  MPROF_CALLER(&caller);
  mprof_http_end();
  if (must_write(mprof_flags.dump_on__exit) && is_first(&ended))
    mprof_write_at_exit(MPROF_END_OTHER, &caller);
}

void mprof_write_before_exec(void) {
  static atomic_int replaced;
  struct mprof_caller caller;
  MPROF_CALLER(&caller);
  mprof_http_before_exec();
  if (must_write(mprof_flags.dump_on_exec) && is_first(&replaced))
    mprof_write_at_exit(MPROF_END_EXEC, &caller);
}

// --- start ---

void mprof_process_start_parts(void) {
  if (!is_first_copy() || is_helper()) {
    mprof_process_set_inert();
    return;
  }
  mprof_process_own();
  for (size_t i = SUBSYSTEMS; i-- > 0;)
    subsystems[i].start();
  mprof_unload_init();
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  // LeakSanitizer has registered an exit handler that ends a leaking process.
  // Exit handlers run in the reverse order of their registration, so the
  // handler registered here runs before LeakSanitizer's handler. The runtime's
  // destructor would run too late.
  if (mprof_has_sanitizer())
    atexit(write_at_exit_once);
  at_quick_exit(write_at_exit_once);
  mprof_process_set_ready();
  mprof_next_start();
  mprof_trace_init();
}

// Returns the error of the HTTP server: 0 or -errno.
static int start_threads(void) {
  mprof_watch_start();
  mprof_cpu_init();
  const int error = mprof_http_start();
  mprof_control_signal_start();
  return error;
}

// Runs before the program's other constructors: 101 is the first priority that
// the compiler leaves to programs. Constructors of other modules may run first;
// their events start the runtime.
// glibc passes the arguments of main to constructors, but musl passes nothing.
#ifdef __GLIBC__
__attribute__((constructor(101))) static void at_load(int argc, char **argv) {
  (void)argc;
  mprof_command_keep(argv);
#else
__attribute__((constructor(101))) static void at_load(void) {
#endif
  mprof_exit_line_init();
  if ((is_late && is_late()) || !mprof_process_ready())
    return;
  mprof_main_end_init();
  start_threads();
}

// --- a library that the program loads itself ---

// Time after which no thread is in a heap function any more whose references
// have been changed back.
enum { LEAVE_MS = 20 };

static void restart(const char *options) {
  mprof_lock_acquire(&mprof_writer_lock);
  mprof_flags.profile = mprof_flags.report = true;
  mprof_flags_change_all(options ? options : "");
  set_rates(mprof_flags.heap ? mprof_flags.heap_rate : 0,
            mprof_flags.block_rate, mprof_flags.mutex_fraction);
  mprof_lock_release(&mprof_writer_lock);
  mprof_order_started_again();
}

// Changes the state from `from` to CHANGING. Returns whether it was `from`.
static bool change_late(enum late from) {
  int expected = from;
  return atomic_compare_exchange_strong(&late, &expected, CHANGING);
}

static int stop_without_files(void) {
  if (!change_late(RUNNING))
    return EALREADY;
  set_late(false);
  mprof_stuck_watch_stop();
  mprof_snapshot_watch_stop();
  mprof_cpu_end();
  mprof_wall_stop();
  mprof_sys_sleep_ms(LEAVE_MS);
  mprof_event_free_all();
  set_stopped();
  mprof_http_shut();
  return 0;
}

// Does what mprof_stop does, but writes no files. `mprof attach` calls it if
// the HTTP server does not answer.
MPROF_ENTRY int __mprof_stop(void);
MPROF_ENTRY int __mprof_stop(void) {
  const int before = errno;
  const int error = stop_without_files();
  errno = before;
  return error;
}

MPROF_PUBLIC int mprof_start(const char *options) {
  const int before = errno;
  if (!is_late || !is_late())
    return EALREADY;
  const bool is_first = change_late(NEVER);
  if (!is_first && !change_late(STOPPED))
    return EALREADY;
  mprof_flags_given = options;
  if (!mprof_process_ready()) {
    atomic_store(&late, NEVER);
    return ENOSYS;
  }
  mprof_flags_given = NULL;
  mprof_http_on_stop = __mprof_stop;
  if (!is_first)
    restart(options);
  mprof_http_wait_for_end();
  set_late(true);
  const int error = start_threads();
  atomic_store(&late, RUNNING);
  if (error != 0)
    stop_without_files();
  errno = before;
  return -error;
}

MPROF_PUBLIC int mprof_stop(void) {
  const int before = errno;
  struct mprof_caller caller;
  if (atomic_load(&late) != RUNNING)
    return EALREADY;
  MPROF_CALLER(&caller);
  // As before exec, because the process goes on.
  if (mprof_has_output())
    mprof_write_at_exit(MPROF_END_EXEC, &caller);
  stop_without_files();
  errno = before;
  return 0;
}

// Runs after the program's exit handlers and its other destructors. Afterwards,
// exit flushes stdio.
__attribute__((destructor(101))) static void at_exit(void) {
  struct mprof_caller caller;
  MPROF_CALLER(&caller);
  write_once(MPROF_END_EXIT, &caller);
}
