// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the place of the kinds that a program does not contain: locks and
// waits, the stacks of threads, stuck threads, and the execution trace. Most
// functions do nothing, because nothing of these kinds happens. Programs that
// only profile the heap contain this file (CMakeLists.txt).
//
// All definitions are weak. If the linker adds libmprof_kinds.a to the program,
// its definitions replace these.

#include "lock_wait/contention.h"
#include "lock_wait/hook_names.h"
#include "lock_wait/lock_names.h"
#include "lock_wait/lock_profile.h"
#include "snapshot/snapshot_wait.h"
#include "stuck_watch.h"
#include "sys/flags.h"
#include "sys/message.h"
#include "thread_stacks/thread_interrupted.h"
#include "thread_stacks/thread_stacks.h"
#include "thread_stacks/thread_starts.h"
#include "trace/trace.h"
#include "trace/trace_out.h"
#include "trace/trace_rows.h"
#include "write/kind_wait.h"
#include "write/profile_kind.h"
#include "write/write_stuck.h"

#include <errno.h>

#define ABSENT __attribute__((weak))

// --- options ---

ABSENT const char mprof_kinds_left_out[] =
    "mprof: this program was linked without the block and mutex profiles, the "
    "threads profile, the search for stuck threads and the execution trace; "
    "link with -fmprof to have them\n";

static void say(const char *option, const char *what, const char *flag) {
  char line[192];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, option);
  mprof_text_str(&t, ": this program was linked without ");
  mprof_text_str(&t, what);
  mprof_text_str(&t, "; link with ");
  mprof_text_str(&t, flag);
  mprof_message(line);
}

// Called at start, after the options were read. Says which of them have no
// effect, and turns them off.
ABSENT void mprof_contention_init(void) {
  static const char threads[] = "the threads profile";
  static const char stuck[] = "the search for stuck threads";
  static const char trace[] = "the execution trace";
  struct mprof_flags *f = &mprof_flags;
  if (f->block_rate != 0)
    say("block_rate", "the block profile", "-fmprof=block");
  if (f->mutex_fraction != 0)
    say("mutex_fraction", "the mutex profile", "-fmprof=mutex");
  if (f->threads)
    say("threads", threads, "-fmprof=threads");
  if (f->stuck)
    say("stuck", stuck, "-fmprof=threads");
  if (f->stuck_report != 0)
    say("stuck_report", stuck, "-fmprof=threads");
  if (f->trace)
    say("trace", trace, "-fmprof=trace");
  if (f->trace_last[0] != '\0')
    say("trace_last", trace, "-fmprof=trace");
  if (f->trace_last_mb != 0)
    say("trace_last_mb", trace, "-fmprof=trace");
  f->block_rate = f->mutex_fraction = f->stuck_report = f->trace_last_mb = 0;
  f->threads = f->stuck = f->trace = false;
  f->trace_last[0] = '\0';
}

// --- locks and waits ---

ABSENT void mprof_contention_update_kinds(void) {}
ABSENT uint64_t mprof_contention_set_block_rate(uint64_t ns) { return 0; }
ABSENT uint64_t mprof_contention_set_mutex_fraction(int n) { return 0; }
ABSENT void mprof_holds_init(void) {}
ABSENT void mprof_lock_profile_init(void) {}
ABSENT void mprof_lock_names_reset(void) {}
ABSENT void mprof_waiters_reset(void) {}

ABSENT const char *mprof_hooked_name(mprof_pc pc) { return NULL; }

ABSENT const char *mprof_kind_name(enum mprof_kind kind) { return ""; }

ABSENT void mprof_lock_label(struct mprof_text *t, uintptr_t address) {}

ABSENT int64_t mprof_wait_ns(const struct mprof_wait_snapshot *s,
                             int64_t cycles) {
  return cycles;
}

ABSENT bool mprof_wait_copy_is_shown(const void *copy) { return false; }

// --- threads ---

ABSENT void mprof_thread_stacks_init(void) {}
ABSENT void mprof_thread_stacks_reset(void) {}
ABSENT void mprof_thread_starts_reset(void) {}
ABSENT void mprof_stuck_watch_start(void) {}
ABSENT void mprof_stuck_watch_stop(void) {}
ABSENT void mprof_stuck_watch_say_none(void) {}

ABSENT struct mprof_wait *mprof_interrupted_wait(uintptr_t frame) {
  return NULL;
}

ABSENT const char *mprof_unseen_text(char text[MPROF_UNSEEN_TEXT],
                                     const struct mprof_thread_stacks *s) {
  return NULL;
}

// --- the execution trace ---

ABSENT void mprof_trace_hooks_init(void) {}
ABSENT void mprof_trace_init(void) {}
ABSENT void mprof_trace_reset(void) {}
ABSENT bool mprof_trace_is_read(void) { return false; }
ABSENT bool mprof_trace_is_written_by_self(void) { return false; }
ABSENT bool mprof_trace_has_session(void) { return false; }

ABSENT int mprof_trace_begin_session(int fd) { return -ENOTSUP; }

ABSENT bool mprof_trace_has_session_of(int fd) { return false; }

ABSENT int mprof_trace_snapshot_to(int fd) { return -ENOSYS; }

ABSENT bool mprof_trace_is_open(const char **own_path) { return false; }

ABSENT int mprof_trace_finish_session(const char *path,
                                      struct mprof_trace_result *result) {
  return -ENOTSUP;
}

// --- profiles that are never on and that no program can request ---

static bool never(void) { return false; }

static bool has_no_stacks(const void *copy) { return false; }

static bool is_not_shown(const void *copy, void *const *copies) {
  return false;
}

static void release_nothing(void *copy) { (void)copy; }

#define ABSENT_PROFILE                                                         \
  {.copy_bytes = 1,                                                            \
   .last_form = MPROF_FORM_LIST,                                               \
   .is_offered = never,                                                        \
   .free = release_nothing,                                                    \
   .is_on = never,                                                             \
   .is_shown = is_not_shown,                                                   \
   .has_stacks = has_no_stacks}
ABSENT const struct mprof_profile_kind mprof_kind_wait = ABSENT_PROFILE;
ABSENT const struct mprof_profile_kind mprof_kind_threadleak = ABSENT_PROFILE;
ABSENT const struct mprof_profile_kind mprof_kind_threads = ABSENT_PROFILE;
