// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the options snapshot_every and snapshot_at_rss. A thread of the
// runtime itself waits, and writes a snapshot when one is due:
//
//   snapshot_every   when the time has passed since the start or the last one
//   snapshot_at_rss  when the resident memory has reached a size. The size
//   counts
//                    again after the memory was a tenth below it
//
// The thread is in no profile and blocks all signals. A snapshot has no names
// of functions, like the files that are written at a signal: a helper process
// at each snapshot would disturb the program.

#include "snapshot_watch.h"

#include "exit.h"
#include "file/writer_lock.h"
#include "options/flags.h"
#include "symbolize/symbolize.h"
#include "sys/caller.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/memory_limit.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/own_thread.h"

#include <string.h>

enum {
  STACK_BYTES = 256 << 10,
  SIZES = 16,
  // Pause between two looks at the resident memory, in milliseconds.
  PAUSE_MS = 200,
};

static struct {
  atomic_uint has_ended; // futex; 1: the thread was told to stop
  // Set before the thread starts.
  uint64_t every_ms;
  uint64_t sizes[SIZES];
  int size_count;
} watch;

// --- the options ---

static const char *put_number(const char *p, uint64_t *n) {
  for (*n = 0; *p >= '0' && *p <= '9' && *n < UINT32_MAX; p++)
    *n = *n * 10 + (uint64_t)(*p - '0');
  return p;
}

uint64_t mprof_snapshot_seconds(const char *s) {
  static const struct {
    char unit[2];
    uint64_t seconds;
  } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
  uint64_t n;
  const char *p = put_number(s, &n);
  for (size_t i = 0; p != s && i < sizeof(units) / sizeof(units[0]); i++)
    if (strcmp(p, units[i].unit) == 0 && n <= 100 * 86400)
      return n * units[i].seconds;
  return 0;
}

// Parses a size such as 80% or 500m. Returns the rest of the text, or NULL.
static const char *put_size(const char *s, uint64_t limit, uint64_t *bytes) {
  static const char units[] = "kmg";
  uint64_t n;
  const char *p = put_number(s, &n), *unit = NULL;
  if (p == s || n == 0)
    return NULL;
  *bytes = n;
  if (*p == '%') {
    *bytes = limit / 100 * n;
    return n <= 100 ? p + 1 : NULL;
  }
  if (*p != '\0' && (unit = strchr(units, *p)) != NULL) {
    *bytes <<= 10 * (unit - units + 1);
    p++;
  }
  return p;
}

int mprof_snapshot_sizes(const char *s, uint64_t limit, uint64_t *bytes,
                         int room) {
  int count = 0;
  while (*s != '\0') {
    uint64_t size;
    s = put_size(s, limit, &size);
    if (s == NULL || (*s != '\0' && *s != '+') || count == room)
      return -1;
    s += *s == '+';
    if (size == 0) // the limit is unknown
      continue;
    int at = count++;
    for (; at > 0 && bytes[at - 1] > size; at--)
      bytes[at] = bytes[at - 1];
    bytes[at] = size;
  }
  return count;
}

static void say(const char *option, const char *value, const char *why) {
  char line[1024];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, option);
  mprof_text_str(&t, "=");
  mprof_text_str(&t, value);
  mprof_text_str(&t, why);
  mprof_message(line);
}

// Reads the options. Returns whether there is anything to do.
static bool read_options(void) {
  const char *every = mprof_flags.snapshot_every;
  const char *at = mprof_flags.snapshot_at_rss;
  watch.every_ms = 1000 * mprof_snapshot_seconds(every);
  if (every[0] != '\0' && watch.every_ms == 0 && strcmp(every, "0") != 0)
    say("snapshot_every", every,
        " is not a time such as 60s, 5m or 1h, and has no effect");
  watch.size_count = 0;
  if (at[0] != '\0') {
    const uint64_t limit = mprof_sys_cgroup_limit();
    const int n = mprof_snapshot_sizes(at, limit, watch.sizes, SIZES);
    if (n < 0)
      say("snapshot_at_rss", at,
          " is not a list of sizes such as 80%+500m, and has no effect");
    else
      watch.size_count = n;
  }
  return watch.every_ms != 0 || watch.size_count != 0;
}

// --- the thread ---

static void write_snapshot(void) {
  mprof_lock_acquire(&mprof_writer_lock);
  // If the process is about to end (has_ended is 1), the output at exit has
  // what the snapshot would have.
  if (atomic_load(&watch.has_ended) == 0 && !mprof_has_written_at_end() &&
      mprof_has_output()) {
    mprof_writer_caller = (struct mprof_caller){.frame = 0};
    mprof_symbolize_turn_off(true);
    mprof_write_snapshot_locked();
    mprof_symbolize_turn_off(false);
  }
  mprof_lock_release(&mprof_writer_lock);
}

// Returns whether the resident memory has reached a size since the last call.
// *reached is the number of sizes that count as reached.
static bool has_grown(int *reached) {
  const uint64_t resident = mprof_sys_resident();
  const int before = *reached;
  while (*reached < watch.size_count && resident >= watch.sizes[*reached])
    ++*reached;
  if (*reached > before)
    return true;
  while (*reached > 0 && resident < watch.sizes[*reached - 1] / 10 * 9)
    --*reached;
  return false;
}

static void *run(void *arg) {
  mprof_own_thread_begin(MPROF_OWN_SNAPSHOTS, "mprof-snapshots");
  int64_t due = mprof_clock_ms() + (int64_t)watch.every_ms;
  int reached = 0;
  while (atomic_load(&watch.has_ended) == 0) {
    const int64_t now = mprof_clock_ms();
    const bool is_due = watch.every_ms != 0 && now >= due;
    if (is_due || (watch.size_count != 0 && has_grown(&reached))) {
      write_snapshot();
      due = mprof_clock_ms() + (int64_t)watch.every_ms;
      continue;
    }
    uint64_t pause_ms =
        watch.every_ms != 0 ? (uint64_t)(due - now) : UINT32_MAX;
    if (watch.size_count != 0 && pause_ms > PAUSE_MS)
      pause_ms = PAUSE_MS;
    mprof_sys_futex_wait_ms(&watch.has_ended, 0, pause_ms);
  }
  mprof_own_thread_end(MPROF_OWN_SNAPSHOTS);
  return arg;
}

static bool is_asked_for(void) {
  return mprof_flags.snapshot_every[0] != '\0' ||
         mprof_flags.snapshot_at_rss[0] != '\0';
}

void mprof_snapshot_watch_start(void) {
  if (!is_asked_for() || !read_options() || !mprof_guard_enter())
    return;
  atomic_store(&watch.has_ended, 0);
  if (mprof_own_thread_start(run, STACK_BYTES) != 0)
    mprof_message("snapshot_every and snapshot_at_rss have no effect: cannot "
                  "create a thread");
  mprof_guard_leave();
}

void mprof_snapshot_watch_stop(void) {
  // Without the options, neither a page is touched nor a system call made.
  if (is_asked_for() && atomic_exchange(&watch.has_ended, 1) == 0)
    mprof_sys_futex_wake_all(&watch.has_ended);
}
