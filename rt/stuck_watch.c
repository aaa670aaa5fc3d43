// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the option stuck_report. A thread of the runtime itself, the watch
// thread, reads the records of current waits at intervals to find stuck
// threads. The watch thread is in no profile and blocks all signals. After its
// first report, the watch thread only waits until it is told to stop.

#include "stuck_watch.h"

#include "file/outfile.h"
#include "file/path.h"
#include "file/writer_lock.h"
#include "stuck/stuck.h"
#include "stuck/stuck_graph.h"
#include "stuck/stuck_types.h"
#include "sys/caller.h"
#include "sys/clock.h"
#include "sys/flags.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread_stacks/thread_stacks.h"
#include "write/write_file.h"
#include "write/write_stuck.h"

#include <errno.h>
#include <pthread.h>

enum {
  STACK_BYTES = 256 << 10,
  SHORTEST_MS = 100,
  // As long as no stuck thread is found, the watch thread spends at most
  // 1/SHARE of the time in searches.
  SHARE = 100,
  NAMES = 1000,
};

static struct {
  atomic_uint has_ended; // futex; 1: the watch thread was told to stop
} watch;

// --- the report ---

static int put_list(struct mprof_outfile *f, void *stuck) {
  return mprof_write_stuck_list(f, stuck);
}

static int write_file(struct mprof_stuck *g, char *path, size_t cap) {
  char base[MPROF_PATH_MAX];
  int error = mprof_path_base(base, sizeof(base));
  mprof_outfile_keep_others(true);
  for (unsigned n = 1; error == 0 && n < NAMES; n++) {
    struct mprof_text t = {.buf = path, .cap = cap};
    mprof_text_str(&t, base);
    if (n > 1) {
      mprof_text_str(&t, ".");
      mprof_text_dec(&t, n);
    }
    mprof_text_str(&t, ".stuck.txt");
    error = mprof_write_file(path, false, put_list, g);
    if (error != -EEXIST)
      break;
    error = 0;
  }
  mprof_outfile_keep_others(false);
  return error;
}

static void say(const struct mprof_stuck *g, const char *path, int error) {
  char line[MPROF_PATH_MAX + 256];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_grouped(&t, g->stuck);
  mprof_text_str(&t,
                 g->stuck == 1 ? " thread is stuck (" : " threads are stuck (");
  mprof_text_grouped(&t, g->certain);
  mprof_text_str(&t, " certain, ");
  mprof_text_grouped(&t, g->likely);
  mprof_text_str(&t, " likely)");
  if (error != 0) {
    mprof_text_str(&t, "; cannot write ");
    mprof_text_str(&t, path);
    mprof_text_str(&t, ": ");
    mprof_text_errno(&t, error);
  } else if (path[0] != '\0') {
    mprof_text_str(&t, ": wrote ");
    mprof_text_str(&t, path);
  }
  mprof_message_always(line);
}

static void report(struct mprof_stuck *g) {
  char path[MPROF_PATH_MAX] = "";
  mprof_lock_acquire(&mprof_writer_lock);
  // If the process is about to end (has_ended is 1), writes no report, because
  // the exit output includes the stuck threads.
  if (atomic_load(&watch.has_ended) == 0) {
    say(g, path,
        mprof_path_is_stderr() ? mprof_write_file(NULL, false, put_list, g)
                               : write_file(g, path, sizeof(path)));
  }
  mprof_lock_release(&mprof_writer_lock);
}

// --- the thread ---

// Looks for stuck threads and reports them. Returns whether there were any.
static bool look(uint64_t age) {
  const struct mprof_caller none = {.frame = 0};
  struct mprof_stuck g;
  const bool is_found = mprof_stuck_take(&g, &none, age) == 0 && g.stuck > 0;
  if (is_found)
    report(&g);
  mprof_stuck_free(&g);
  return is_found;
}

static void *run(void *arg) {
  const uint64_t age = mprof_clock_ticks(mprof_flags.stuck_report * 1000000000);
  const uint64_t step = mprof_flags.stuck_report * 1000 / 8;
  uint64_t pause_ms = step > SHORTEST_MS ? step : SHORTEST_MS;
  // Keep the guard until the end, so that no action of this thread is an event.
  mprof_tls.is_own = mprof_tls.guarded = true;
  atomic_store(&mprof_own_thread, mprof_sys_gettid());
  mprof_sys_set_own_name("mprof");
  while (atomic_load(&watch.has_ended) == 0) {
    mprof_sys_futex_wait_ms(&watch.has_ended, 0, pause_ms);
    pause_ms = step > SHORTEST_MS ? step : SHORTEST_MS;
    const uint64_t begin = mprof_clock_now();
    if (atomic_load(&watch.has_ended) != 0 || !mprof_stuck_may_be(age))
      continue;
    // After a report, the watch thread waits until it is told to stop. It does
    // not end earlier, because a new thread could then get its id, and profiles
    // omit the thread with this id.
    if (look(age))
      while (atomic_load(&watch.has_ended) == 0)
        mprof_sys_futex_wait(&watch.has_ended, 0);
    const uint64_t took = mprof_clock_now() - begin;
    const uint64_t least_ms = mprof_clock_ns(took) / 1000000 * SHARE;
    if (least_ms > pause_ms)
      pause_ms = least_ms;
  }
  return arg;
}

void mprof_stuck_watch_start(void) {
  pthread_t thread;
  pthread_attr_t attr;
  if (mprof_flags.stuck_report == 0 || !mprof_guard_enter())
    return;
  atomic_store(&watch.has_ended, 0);
  const uint64_t mask = mprof_sys_set_signal_mask(UINT64_MAX);
  int error = -pthread_attr_init(&attr);
  if (error == 0) {
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    error = -pthread_create(&thread, &attr, run, NULL);
    pthread_attr_destroy(&attr);
  }
  mprof_sys_set_signal_mask(mask);
  mprof_guard_leave();
  if (error != 0)
    mprof_message("stuck_report has no effect: cannot create a thread");
}

void mprof_stuck_watch_stop(void) {
  atomic_store(&watch.has_ended, 1);
  mprof_sys_futex_wake_all(&watch.has_ended);
}
