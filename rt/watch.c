// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's threads that watch the process. Each is in no profile, blocks
// all signals, and runs only if an option asks for it:
//
//   stuck_report     reports stuck threads, once. Then the thread only waits
//                    until it is told to stop
//   snapshot_every   writes a snapshot when the time has passed since the start
//                    or the last one
//   snapshot_at_rss  writes a snapshot when the resident memory has reached a
//                    size. The size counts again after the memory was a tenth
//                    below it
//   memory           keeps the account of the memory when it was highest
//   trace_slow_task  writes the trace around slow tasks
//   persist          protects the file (file/persist.h). The thread looks at it
//                    from time to time, instead of waiting for the kernel's
//                    signal: a thread that takes signals could take one that
//                    was sent to the program
//
// To judge a wait means to decide whether the waiting thread is stuck. The
// watch thread judges waits for locks at each interval, because this is cheap.
// Waits for conditions and similar objects need a search of memory, which stops
// all threads for a moment. So the searches have a limited share of the time. A
// search is due at once if there is a wait that no search has judged yet, and
// the share is not used up. Waits that a search has judged are judged again
// less often, because a pool of idle threads waits all the time.
//
// A snapshot has no names of functions, like the files that are written at a
// signal: a helper process at each snapshot would disturb the program.

#include "init.h"

#include "exit.h"
#include "file/outfile.h"
#include "file/persist.h"
#include "memory/owners.h"
#include "memory/process_memory.h"
#include "options/flags.h"
#include "process/process.h"
#include "stuck/stuck.h"
#include "symbolize/symbolize.h"
#include "sys/arch.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"
#include "trace/trace.h"
#include "trace/trace_events.h"
#include "write/kinds.h"
#include "write/profiles.h"
#include "write/report.h"

#include <errno.h>
#include <string.h>

// Starts a thread. Returns whether it runs.
static bool start(enum mprof_own own, const char *name, void (*run)(void)) {
  if (!mprof_guard_enter())
    return false;
  const int error = mprof_own_start(own, name, run);
  mprof_guard_leave();
  return error == 0;
}

enum {
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
  atomic_bool has_found; // the watch thread has found stuck threads
  atomic_bool is_sure;   // the watch thread runs, and no search has failed
} stuck;

// --- the report of stuck threads ---

static int put_list(struct mprof_outfile *f, void *stuck) {
  return mprof_profile_put(
      f, &(struct mprof_profile_request){
             .row = &mprof_profile_rows[MPROF_PROFILE_threadleak],
             .form = MPROF_FORM_LIST,
             .copy = stuck});
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

static void say_stuck(const struct mprof_stuck *g, const char *path,
                      int error) {
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
  // If the process is about to end, writes no report, because the exit output
  // includes the stuck threads.
  if (!mprof_own_is_stopped(MPROF_OWN_WATCH)) {
    say_stuck(g, path,
              mprof_path_is_stderr()
                  ? mprof_write_file(NULL, false, put_list, g)
                  : write_file(g, path, sizeof(path)));
  }
  mprof_lock_release(&mprof_writer_lock);
}

// --- the search for stuck threads ---

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
    atomic_store(&stuck.is_sure, false);
  if (is_found) {
    // Set before report looks whether the thread was told to end, so that a
    // report and the line of mprof_stuck_watch_say_none exclude each other.
    atomic_store(&stuck.has_found, true);
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

static void look_for_stuck(void) {
  const uint64_t age = mprof_clock_ticks(mprof_flags.stuck_report * 1000000000);
  const uint64_t step = mprof_flags.stuck_report * 1000 / 8;
  const uint64_t pause_ms = step < SHORTEST_MS  ? SHORTEST_MS
                            : step > LONGEST_MS ? LONGEST_MS
                                                : step;
  struct budget b = {.at = mprof_clock_now(), .spare_ns = SAVED_MS * 1000000};
  while (mprof_own_wait(MPROF_OWN_WATCH, mprof_own_news(MPROF_OWN_WATCH),
                        pause_ms)) {
    save(&b);
    const struct mprof_stuck_signs signs = mprof_stuck_look(age);
    if ((signs.is_stuck || is_due(&b, signs.newest)) &&
        search(&b, age, signs.newest))
      while (mprof_own_wait(MPROF_OWN_WATCH, mprof_own_news(MPROF_OWN_WATCH),
                            UINT64_MAX))
        ;
  }
}

static void start_stuck(void) {
  if (mprof_flags.stuck_report == 0)
    return;
  atomic_store(&stuck.has_found, false);
  const bool runs = start(MPROF_OWN_WATCH, "mprof", look_for_stuck);
  atomic_store(&stuck.is_sure, runs);
  if (!runs)
    mprof_message("stuck_report has no effect: cannot create a thread");
}

void mprof_stuck_watch_stop(void) { mprof_own_stop(MPROF_OWN_WATCH); }

void mprof_stuck_watch_say_none(void) {
  char line[128];
  struct mprof_text t = MPROF_TEXT(line);
  // With stuck=1, the line that names the written files has the number of stuck
  // threads.
  if (mprof_flags.stuck_report == 0 || mprof_flags.stuck ||
      !mprof_flags_want_news() || mprof_process_epoch() != 0 ||
      atomic_load(&stuck.has_found) || !atomic_load(&stuck.is_sure))
    return;
  mprof_text_str(&t, "stuck_report: found no thread that was stuck for ");
  mprof_text_dec(&t, mprof_flags.stuck_report);
  mprof_text_str(&t, " s");
  mprof_message_always(line);
}

enum {
  SIZES = 16,
  // Pause between two looks at the resident memory, in milliseconds.
  PAUSE_MS = 200,
  MEMORY_PAUSE_MS = 20, // for the option memory
  SLOW_PAUSE_MS = 100,  // between the end of a slow task and its trace
  // An account is taken when the resident memory is higher than at the last one
  // by 1/GROWTH, and when it has stayed for STAY_MS after it has grown by
  // 1/STEP. If it still stays, other accounts are taken after twice that time
  // and so on, because the program may free blocks, while others keep the pages
  // resident. Accounts take at most 1/ACCOUNT_SHARE of a processor, and
  // ACCOUNT_AHEAD_MS more, for a program that ends soon. Half of it is left for
  // memory that stays.
  GROWTH = 10,
  STEP = 50,
  STAY_MS = 300,
  ACCOUNT_SHARE = 100,
  ACCOUNT_AHEAD_MS = 300,
};

// Set before the thread starts.
static struct {
  uint64_t every_ms;
  uint64_t sizes[SIZES];
  int size_count;
} snapshots;

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

// Stores the number at the begin of the text, at most UINT64_MAX / 10. Returns
// the rest of the text.
static const char *read_number(const char *p, uint64_t *n) {
  for (*n = 0; *p >= '0' && *p <= '9'; p++)
    *n = *n > UINT64_MAX / 10 - 1 ? UINT64_MAX / 10
                                  : *n * 10 + (uint64_t)(*p - '0');
  return p;
}

// Returns the number at the begin of the text, or UINT64_MAX if there is none,
// as in "max".
static uint64_t number(const char *p) {
  uint64_t n;
  return read_number(p, &n) == p ? UINT64_MAX : n;
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

uint64_t mprof_cgroup_limit_in(const char *proc, const char *root) {
  uint64_t least = UINT64_MAX;
  char first[PATH_BYTES];
  struct mprof_text t = MPROF_TEXT(first);
  mprof_text_str(&t, root);
  mprof_text_str(&t, "/memory");
  while (*proc != '\0') {
    const size_t len = strcspn(proc, "\n");
    bool is_second;
    const char *path = mprof_cgroup_path(proc, len, &is_second);
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

// --- the options of snapshots ---

uint64_t mprof_snapshot_seconds(const char *s) {
  static const struct {
    char unit[2];
    uint64_t seconds;
  } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
  uint64_t n;
  const char *p = read_number(s, &n);
  for (size_t i = 0; p != s && i < sizeof(units) / sizeof(units[0]); i++)
    if (strcmp(p, units[i].unit) == 0 && n <= 100 * 86400)
      return n * units[i].seconds;
  return 0;
}

// Parses a size such as 80% or 500m. Returns the rest of the text, or NULL.
static const char *put_size(const char *s, uint64_t limit, uint64_t *bytes) {
  static const char units[] = "kmg";
  uint64_t n;
  const char *p = read_number(s, &n), *unit = NULL;
  if (p == s || n == 0 || n > UINT32_MAX)
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
  snapshots.every_ms = 1000 * mprof_snapshot_seconds(every);
  if (every[0] != '\0' && snapshots.every_ms == 0 && strcmp(every, "0") != 0)
    say("snapshot_every", every,
        " is not a time such as 60s, 5m or 1h, and has no effect");
  snapshots.size_count = 0;
  if (at[0] != '\0') {
    const uint64_t limit = cgroup_limit();
    const int n = mprof_snapshot_sizes(at, limit, snapshots.sizes, SIZES);
    if (n < 0)
      say("snapshot_at_rss", at,
          " is not a list of sizes such as 80%+500m, and has no effect");
    else
      snapshots.size_count = n;
  }
  return snapshots.every_ms != 0 || snapshots.size_count != 0 ||
         mprof_flags.memory != 0 || mprof_flags.trace_slow_task != 0;
}

// --- snapshots ---

// Returns whether the process is not about to end.
static bool goes_on(void) {
  return !mprof_own_is_stopped(MPROF_OWN_SNAPSHOTS) &&
         !mprof_has_written_at_end();
}

static void write_snapshot(void) {
  mprof_lock_acquire(&mprof_writer_lock);
  // If the process is about to end, the output at exit has what the snapshot
  // would have.
  if (goes_on() && mprof_has_output()) {
    mprof_writer_caller = (struct mprof_caller){.frame = 0};
    mprof_symbolize_turn_off(true);
    mprof_write_snapshot_locked();
    mprof_symbolize_turn_off(false);
  }
  mprof_lock_release(&mprof_writer_lock);
}

// --- traces of slow tasks ---

// Prints that a slow task was found, and where its trace is.
static void say_slow(const struct mprof_slow_tasks *s, const char *path,
                     int error) {
  char line[MPROF_PATH_MAX + 512];
  struct mprof_text t = MPROF_TEXT(line);
  const char *name = mprof_trace_name_text(s->name);
  if (error == 0 && !mprof_flags_want_news())
    return;
  mprof_text_str(&t, "task ");
  mprof_text_dec(&t, s->task);
  mprof_text_str(&t, " '");
  mprof_text_clean(&t, name, strlen(name));
  mprof_text_str(&t, "' took ");
  mprof_text_dec(&t, s->took * 1000 / mprof_trace_frequency());
  mprof_text_str(&t, " ms");
  if (s->count > 1) {
    mprof_text_str(&t, ", and ");
    mprof_put_things(&t, s->count - 1, "more task");
    mprof_text_str(&t, " took too long");
  }
  mprof_text_str(&t, error == 0 ? "; mprof latency shows why: wrote "
                                : "; cannot write ");
  mprof_text_str(&t, path);
  if (error != 0) {
    mprof_text_str(&t, ": ");
    mprof_text_errno(&t, error);
  }
  mprof_message_always(line);
}

static void write_slow_locked(void) {
  // Static, because the struct is too large for a small stack. Guarded by
  // writer_lock.
  static struct mprof_keep_set set;
  char path[MPROF_PATH_MAX];
  const struct mprof_slow_tasks s = mprof_slow_tasks_take();
  int error = mprof_path_base(path, sizeof(path));
  if (s.count == 0 || error == -ENODEV)
    return;
  struct mprof_text t = {.buf = path, .cap = sizeof(path), .len = strlen(path)};
  mprof_path_make_directory(path);
  mprof_text_str(&t, ".slow_task.");
  mprof_text_dec(&t, s.task);
  mprof_text_str(&t, ".trace");
  const uint64_t before = mprof_slow_task_limit();
  if (error == 0)
    error = t.len + 1 < sizeof(path)
                ? mprof_trace_snapshot_from(
                      path, s.begin > before ? s.begin - before : 0)
                : -ENAMETOOLONG;
  if (error == 0) {
    set.len = 0;
    mprof_keep_add(&set, path);
    mprof_keep_newest(MPROF_KEEP_SLOW_TASKS, &set);
  }
  say_slow(&s, path, error);
}

static void write_slow_tasks(void) {
  // Other tasks may be slow for the same reason, and end soon. The next trace
  // would lack their begin.
  mprof_sys_sleep_ms(SLOW_PAUSE_MS);
  mprof_lock_acquire(&mprof_writer_lock);
  // If the process is about to end, the trace at exit has the tasks.
  if (goes_on())
    write_slow_locked();
  mprof_lock_release(&mprof_writer_lock);
}

// Returns whether the resident memory has reached a size since the last call.
// *reached is the number of sizes that count as reached.
static bool has_grown(int *reached) {
  const uint64_t resident = mprof_sys_resident().all;
  const int before = *reached;
  while (*reached < snapshots.size_count &&
         resident >= snapshots.sizes[*reached])
    ++*reached;
  if (*reached > before)
    return true;
  while (*reached > 0 && resident < snapshots.sizes[*reached - 1] / 10 * 9)
    --*reached;
  return false;
}

// The option memory. Only the thread uses this record.
struct highest {
  uint64_t rss;     // the highest at an account, or that at the start
  uint64_t top;     // the highest seen, but for less than 1/STEP
  uint64_t at;      // time of the last look, in ticks
  uint64_t again;   // time of the next account if the memory stays, in ticks;
                    // UINT64_MAX: it has not grown yet
  uint64_t stay;    // pause before it, in ticks
  int tid;          // of the thread
  int64_t spare_ns; // processor time that accounts have not used yet; negative:
                    // overdrawn
};

static void look_at_memory(struct highest *h) {
  const uint64_t rss = mprof_sys_resident().all, now = mprof_clock_now();
  const uint64_t begin = mprof_sys_thread_ran_ns(h->tid);
  h->spare_ns += (int64_t)(mprof_clock_ns(now - h->at) / ACCOUNT_SHARE);
  h->at = now;
  if (rss > h->top + h->top / STEP) {
    h->top = rss;
    h->stay = mprof_clock_ticks(STAY_MS * 1000000);
    h->again = now + h->stay;
  }
  const bool has_grown = rss >= h->rss + h->rss / GROWTH &&
                         h->spare_ns > ACCOUNT_AHEAD_MS * 1000000 / 2;
  const bool has_stayed = rss >= h->top - h->top / GROWTH && now >= h->again;
  if (rss < mprof_flags.memory << 20 || h->spare_ns < 0 ||
      (!has_grown && !has_stayed))
    return;
  // A signal handler that has interrupted the allocator may wait for
  // writer_lock, so the allocator is asked before.
  const struct mprof_other_malloc said = mprof_other_malloc_ask();
  mprof_lock_acquire(&mprof_writer_lock);
  mprof_other_malloc_answer(&said);
  if (!mprof_own_is_stopped(MPROF_OWN_SNAPSHOTS))
    mprof_memory_keep();
  mprof_other_malloc_answer(NULL);
  mprof_lock_release(&mprof_writer_lock);
  h->rss = rss > h->rss ? rss : h->rss;
  if (has_stayed) {
    h->stay *= 2;
    h->again = now + h->stay;
  }
  h->spare_ns -= (int64_t)(mprof_sys_thread_ran_ns(h->tid) - begin);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void write_snapshots(void) {
  int64_t due = mprof_clock_ms() + (int64_t)snapshots.every_ms;
  const uint64_t resident = mprof_sys_resident().all;
  struct highest highest = {.rss = resident,
                            .top = resident,
                            .at = mprof_clock_now(),
                            .again = UINT64_MAX,
                            .tid = mprof_sys_gettid(),
                            .spare_ns = ACCOUNT_AHEAD_MS * 1000000};
  int reached = 0;
  for (;;) {
    const unsigned news = mprof_own_news(MPROF_OWN_SNAPSHOTS);
    if (mprof_own_is_stopped(MPROF_OWN_SNAPSHOTS))
      return;
    if (mprof_slow_tasks_has_news()) {
      write_slow_tasks();
      continue;
    }
    const int64_t now = mprof_clock_ms();
    const bool is_time = snapshots.every_ms != 0 && now >= due;
    if (is_time || (snapshots.size_count != 0 && has_grown(&reached))) {
      write_snapshot();
      due = mprof_clock_ms() + (int64_t)snapshots.every_ms;
      continue;
    }
    uint64_t pause_ms =
        snapshots.every_ms != 0 ? (uint64_t)(due - now) : UINT64_MAX;
    if (mprof_flags.memory != 0) {
      look_at_memory(&highest);
      pause_ms = least(pause_ms, MEMORY_PAUSE_MS);
    }
    if (snapshots.size_count != 0)
      pause_ms = least(pause_ms, PAUSE_MS);
    mprof_own_wait(MPROF_OWN_SNAPSHOTS, news, pause_ms);
  }
}

static void start_snapshots(void) {
  if (read_options() &&
      !start(MPROF_OWN_SNAPSHOTS, "mprof-snapshots", write_snapshots))
    mprof_message("snapshot_every, snapshot_at_rss, memory and trace_slow_task "
                  "see only the end of the process: cannot create a thread");
}

void mprof_snapshot_watch_stop(void) { mprof_own_stop(MPROF_OWN_SNAPSHOTS); }

// --- the file of the option persist ---

static void protect_file(void) {
  const int tid = mprof_sys_gettid();
  unsigned ms;
  while ((ms = mprof_persist_look(tid)) != 0)
    mprof_sys_sleep_ms(ms);
}

static void start_wall(void) {
  if (!mprof_guard_enter())
    return;
  if (mprof_wall_set_rate(mprof_flags.wall_rate) != 0)
    mprof_message("wall_rate has no effect: cannot create a thread");
  mprof_guard_leave();
}

void mprof_watch_start(void) {
  start_stuck();
  start_snapshots();
  start_wall();
  // Without the thread, the process is as safe as on a file system without
  // leases, so a failure needs no message.
  if (mprof_flags.persist[0] != '\0')
    start(MPROF_OWN_PERSIST, "mprof-persist", protect_file);
}
