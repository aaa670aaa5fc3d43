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
#include "file/outfile.h"
#include "options/flags.h"
#include "symbolize/symbolize.h"
#include "sys/arch.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_file.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/threads.h"

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

// --- the memory of the process and its limit ---

// There are two versions of cgroups, which may be used side by side:
//
//   version  line of /proc/self/cgroup  file with the limit, below the root
//   2        0::PATH                    PATH/memory.max
//   1        N:...,memory,...:PATH      memory/PATH/memory.limit_in_bytes
//
// In a container, PATH may be relative to the container, or to the machine and
// not visible. The limit is then that of the root.

enum { PATH_BYTES = 1024, TEXT_BYTES = 4096 };

// Returns the number at the begin of the text, or UINT64_MAX if there is none.
static uint64_t number(const char *p) {
  uint64_t n = 0;
  if (*p < '0' || *p > '9')
    return UINT64_MAX; // "max"
  for (; *p >= '0' && *p <= '9'; p++)
    n = n > UINT64_MAX / 10 - 1 ? UINT64_MAX / 10
                                : n * 10 + (uint64_t)(*p - '0');
  return n;
}

uint64_t mprof_sys_resident(void) {
  char text[128];
  if (mprof_procfile_begin("/proc/self/statm", text, sizeof(text)) <= 0)
    return 0;
  const char *second = strchr(text, ' ');
  const uint64_t pages = second ? number(second + 1) : UINT64_MAX;
  return pages == UINT64_MAX ? 0 : pages * MPROF_PAGE;
}

// Returns the smallest limit of the cgroup at `path`, which has len bytes, and
// of those above it.
static uint64_t smallest(const char *root, const char *path, size_t len,
                         const char *file) {
  char name[PATH_BYTES], text[64];
  uint64_t least = UINT64_MAX;
  for (;; len--) {
    if (len > 0 && path[len] != '/' && path[len] != '\n' && path[len] != '\0')
      continue;
    struct mprof_text t = MPROF_TEXT(name);
    mprof_text_str(&t, root);
    mprof_text_mem(&t, path, len);
    mprof_text_str(&t, file);
    if (t.len + 1 < sizeof(name) &&
        mprof_procfile_begin(name, text, sizeof(text)) > 0) {
      const uint64_t limit = number(text);
      least = limit < least ? limit : least;
    }
    if (len == 0)
      return least;
  }
}

// Returns the path of a line "N:CONTROLLERS:PATH" that has memory, or NULL.
static const char *memory_path(const char *line, size_t len, bool *is_second) {
  const char *end = line + len;
  const char *first = memchr(line, ':', len);
  const char *names = first ? first + 1 : end;
  const char *path = memchr(names, ':', (size_t)(end - names));
  if (path == NULL)
    return NULL;
  *is_second = path == names;
  static const char memory[] = "memory";
  const size_t n = sizeof(memory) - 1;
  for (const char *p = names; !*is_second && p < path; p++)
    if ((size_t)(path - p) >= n && memcmp(p, memory, n) == 0 &&
        (p == names || p[-1] == ',') && (p[n] == ',' || p[n] == ':'))
      return path + 1;
  return *is_second ? path + 1 : NULL;
}

uint64_t mprof_cgroup_limit_in(const char *proc, const char *root) {
  uint64_t least = UINT64_MAX;
  char first[PATH_BYTES];
  struct mprof_text t = MPROF_TEXT(first);
  mprof_text_str(&t, root);
  mprof_text_str(&t, "/memory");
  while (*proc != '\0') {
    const size_t len = strcspn(proc, "\n");
    bool is_second;
    const char *path = memory_path(proc, len, &is_second);
    if (path != NULL) {
      const uint64_t limit =
          smallest(is_second ? root : first, path, (size_t)(proc + len - path),
                   is_second ? "/memory.max" : "/memory.limit_in_bytes");
      least = limit < least ? limit : least;
    }
    proc += len + (proc[len] == '\n');
  }
  return least;
}

// Returns the smallest memory limit in bytes of the process's cgroup, or the
// memory of the machine if there is no limit, or 0 if both are unknown.
static uint64_t cgroup_limit(void) {
  char text[TEXT_BYTES];
  uint64_t limit = UINT64_MAX, machine = 0;
  if (mprof_procfile_begin("/proc/self/cgroup", text, sizeof(text)) > 0)
    limit = mprof_cgroup_limit_in(text, "/sys/fs/cgroup");
  static const char total[] = "MemTotal:";
  if (mprof_procfile_begin("/proc/meminfo", text, sizeof(text)) > 0 &&
      strncmp(text, total, sizeof(total) - 1) == 0) {
    const uint64_t kb = number(text + strspn(text, "MemTotal: "));
    machine = kb < UINT64_MAX / 1024 ? kb * 1024 : 0;
  }
  return machine != 0 && machine < limit ? machine
         : limit == UINT64_MAX           ? 0
                                         : limit;
}

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
    const uint64_t limit = cgroup_limit();
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
