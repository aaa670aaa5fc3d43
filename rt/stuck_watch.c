// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the option stuck_report. A thread of the runtime itself, the watch
// thread, reads the records of current waits at intervals to find stuck
// threads. The watch thread is in no profile and blocks all signals. After its
// first report, the watch thread only waits until it is told to stop.
//
// To judge a wait means to decide whether the waiting thread is stuck. The
// watch thread judges waits for locks at each interval, because this is cheap.
// Waits for conditions and similar objects need a search of memory, which stops
// all threads for a moment. So the searches have a limited share of the time. A
// search is due at once if there is a wait that no search has judged yet, and
// the share is not used up. Waits that a search has judged are judged again
// less often, because a pool of idle threads waits all the time.

#include "stuck_watch.h"

#include "file/outfile.h"
#include "file/path.h"
#include "options/flags.h"
#include "process/process.h"
#include "stuck/stuck.h"
#include "stuck/stuck_graph.h"
#include "stuck/stuck_types.h"
#include "sys/arch.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "write/write_file.h"
#include "write/write_stuck.h"

#include <errno.h>

enum {
  STACK_BYTES = 256 << 10,
  // Limits of the pause between two checks, in milliseconds. Between these
  // limits, the pause is an eighth of the time that the option stuck_report
  // gives. So a report comes less than a second late.
  SHORTEST_MS = 100,
  LONGEST_MS = 500,
  // As long as no stuck thread is found, the watch thread spends at most
  // 1/SHARE of the time in searches of memory. Searches take at most half of
  // this share while there are only waits that an earlier search has judged.
  SHARE = 100,
  // Search time that was not used is saved for later searches, up to this
  // number of milliseconds.
  SAVED_MS = 1000,
  // A search for new waits may overdraw the saved search time by the duration
  // of this number of searches.
  AHEAD = 2,
  NAMES = 1000,
};

static struct {
  atomic_uint has_ended; // futex; 1: the watch thread was told to stop
  atomic_bool has_found; // the watch thread has found stuck threads
  atomic_bool is_sure;   // the watch thread runs, and no search has failed
} watch;

// --- the report ---

static int put_list(struct mprof_outfile *f, void *stuck) {
  return mprof_write_stuck_list(f, stuck);
}

static int write_file(struct mprof_stuck *g, char *path, size_t cap) {
  char base[MPROF_PATH_MAX];
  int error = mprof_path_base(base, sizeof(base));
  if (error == 0)
    mprof_path_make_directory(base);
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
  if (error != 0 && !mprof_path_discards_files()) {
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

// Looks for stuck threads that have waited for `age` ticks. Returns whether
// there are any. *is_judged receives whether the search could decide for all
// waiting threads if they are stuck. *g must be freed in any case.
static bool take(struct mprof_stuck *g, uint64_t age, bool *is_judged) {
  const struct mprof_caller none = {.frame = 0};
  const bool is_taken = mprof_stuck_take(g, &none, age) == 0;
  *is_judged = is_taken && g->unjudged == MPROF_JUDGED;
  return is_taken && g->stuck > 0;
}

// Reports the stuck threads of g, and those that got stuck later, but have
// waited for half of the time. Otherwise the only report of the process would
// lack threads that got stuck some milliseconds after the first ones.
static void report_with_later(struct mprof_stuck *g, uint64_t age) {
  struct mprof_stuck all;
  bool is_judged;
  // Stuck threads stay stuck. So if the second search could judge all threads,
  // it has found those of g, too.
  const bool has_more =
      take(&all, age / 2, &is_judged) && is_judged && all.stuck > g->stuck;
  report(has_more ? &all : g);
  mprof_stuck_free(&all);
}

// Looks for stuck threads and reports them. Returns whether stuck threads were
// found. *is_judged: see take.
static bool look(uint64_t age, bool *is_judged) {
  struct mprof_stuck g;
  const bool is_found = take(&g, age, is_judged);
  if (!*is_judged)
    atomic_store(&watch.is_sure, false);
  if (is_found) {
    // Set before report reads has_ended, so that a report and the line of
    // mprof_stuck_watch_say_none exclude each other.
    atomic_store(&watch.has_found, true);
    report_with_later(&g, age);
  }
  mprof_stuck_free(&g);
  return is_found;
}

// The time that searches may take. Only the watch thread uses this record.
struct budget {
  uint64_t at;       // time of the last update, in ticks
  int64_t spare_ns;  // search time that is not used yet; negative: overdrawn
  uint64_t searched; // end of the last search, in ticks
  uint64_t took_ns;  // duration of the last search
  uint64_t newest;   // begin of the newest wait that was judged, in ticks
};

static void save(struct budget *b) {
  const uint64_t now = mprof_clock_now();
  const int64_t most = (int64_t)SAVED_MS * 1000000;
  b->spare_ns += (int64_t)(mprof_clock_ns(now - b->at) / SHARE);
  if (b->spare_ns > most)
    b->spare_ns = most;
  b->at = now;
}

// Returns whether a search must judge the waits for conditions and similar
// objects now. newest: time in ticks at which the last of these waits began; 0:
// there are no such waits.
static bool is_due(const struct budget *b, uint64_t newest) {
  const int64_t took = (int64_t)b->took_ns;
  if (newest > b->newest)
    return b->spare_ns >= -AHEAD * took;
  return newest != 0 && b->spare_ns >= 0 &&
         mprof_clock_ns(mprof_clock_now() - b->searched) >=
             2 * SHARE * b->took_ns;
}

// Searches memory and reports stuck threads. Returns whether stuck threads were
// found.
static bool search(struct budget *b, uint64_t age, uint64_t newest) {
  const uint64_t begin = mprof_clock_now();
  bool is_judged;
  const bool is_found = look(age, &is_judged);
  b->searched = mprof_clock_now();
  b->took_ns = mprof_clock_ns(b->searched - begin);
  b->spare_ns -= (int64_t)b->took_ns;
  if (is_judged && newest > b->newest)
    b->newest = newest;
  return is_found;
}

static void *run(void *arg) {
  const uint64_t age = mprof_clock_ticks(mprof_flags.stuck_report * 1000000000);
  const uint64_t step = mprof_flags.stuck_report * 1000 / 8;
  const uint64_t pause_ms = step < SHORTEST_MS  ? SHORTEST_MS
                            : step > LONGEST_MS ? LONGEST_MS
                                                : step;
  struct budget b = {.at = mprof_clock_now(), .spare_ns = SAVED_MS * 1000000};
  mprof_own_thread_begin(MPROF_OWN_WATCH, "mprof");
  while (atomic_load(&watch.has_ended) == 0) {
    mprof_sys_futex_wait_ms(&watch.has_ended, 0, pause_ms);
    if (atomic_load(&watch.has_ended) != 0)
      break;
    save(&b);
    const struct mprof_stuck_signs signs = mprof_stuck_look(age);
    // After a report, the watch thread waits until it is told to stop. The
    // watch thread does not end earlier, because a new thread could then get
    // its thread id, and profiles omit the thread with this id.
    if ((signs.is_stuck || is_due(&b, signs.newest)) &&
        search(&b, age, signs.newest))
      while (atomic_load(&watch.has_ended) == 0)
        mprof_sys_futex_wait(&watch.has_ended, 0);
  }
  return arg;
}

void mprof_stuck_watch_start(void) {
  if (mprof_flags.stuck_report == 0 || !mprof_guard_enter())
    return;
  atomic_store(&watch.has_ended, 0);
  atomic_store(&watch.has_found, false);
  const int error = mprof_own_thread_start(run, STACK_BYTES);
  atomic_store(&watch.is_sure, error == 0);
  mprof_guard_leave();
  if (error != 0)
    mprof_message("stuck_report has no effect: cannot create a thread");
}

void mprof_stuck_watch_stop(void) {
  atomic_store(&watch.has_ended, 1);
  mprof_sys_futex_wake_all(&watch.has_ended);
}

void mprof_stuck_watch_say_none(void) {
  char line[128];
  struct mprof_text t = MPROF_TEXT(line);
  // With stuck=1, the line that names the written files has the number of stuck
  // threads.
  if (mprof_flags.stuck_report == 0 || mprof_flags.stuck ||
      !mprof_flags_want_news() || mprof_process_epoch() != 0 ||
      atomic_load(&watch.has_found) || !atomic_load(&watch.is_sure))
    return;
  mprof_text_str(&t, "stuck_report: found no thread that was stuck for ");
  mprof_text_dec(&t, mprof_flags.stuck_report);
  mprof_text_str(&t, " s");
  mprof_message_always(line);
}
