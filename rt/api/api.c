// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the public functions that copy a profile into an array of records,
// write a profile to a file, list the profiles, and set the sampling rates.

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/custom_profile.h"
#include "cpu/cpu.h"
#include "file/outfile.h"
#include "heap/event.h"
#include "lock_wait/contention.h"
#include "mprof/mprof.h"
#include "options/flags.h"
#include "process/process.h"
#include "snapshot/snapshot.h"
#include "stuck/stuck.h"
#include "sys/arch.h"
#include "sys/clock.h"
#include "sys/libc.h"
#include "sys/lock.h"
#include "sys/sort.h"
#include "sys/tls.h"
#include "thread/labels.h"
#include "thread_stacks/thread_stacks.h"
#include "write/profiles.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

// --- records ---
//
// The program provides an array of records. (Go: MemProfile, BlockProfile,
// MutexProfile, ThreadCreateProfile, GoroutineProfile)

// Begins a public function: stores 0 in *n and sets the recursion guard
// (tls.h). frame: frame address of the public function. Returns 0 on success.
// On failure, returns -errno and does not set the guard.
static int enter(const void *records, size_t len, size_t *n, uintptr_t frame) {
  if (n == NULL)
    return -EINVAL;
  *n = 0;
  mprof_msan_unpoison(n, sizeof(*n));
  if (records == NULL && len > 0)
    return -EINVAL;
  if (!mprof_process_ready())
    return -ENOSYS;
  return mprof_guard_enter_as(mprof_guard_of(frame)) ? 0 : -EBUSY;
}

// Copies the stack of bucket b to `to`, and truncates it to MPROF_RECORD_STACK
// addresses. The caller has filled `to` with zeros, so zeros follow a shorter
// stack.
static void copy_stack(mprof_pc to[MPROF_RECORD_STACK],
                       const struct mprof_bucket *b) {
  size_t n = b->stack_len;
  if (n > MPROF_RECORD_STACK)
    n = MPROF_RECORD_STACK;
  memcpy(to, b->stack, n * sizeof(b->stack[0]));
}

static void fill_stack_record(struct mprof_stack_record *r,
                              const struct mprof_bucket *b) {
  memset(r, 0, sizeof(*r));
  copy_stack(r->stack0, b);
}

// --- memory ---

// Fills record r from bucket b. (Go: copyMemProfileRecord)
static void fill_mem_record(struct mprof_mem_record *r,
                            const struct mprof_bucket *b) {
  memset(r, 0, sizeof(*r));
  r->alloc_objects = (int64_t)mprof_active_allocs(b);
  r->free_objects = (int64_t)mprof_active_frees(b);
  r->alloc_bytes = r->alloc_objects * (int64_t)b->size;
  r->free_bytes = r->free_objects * (int64_t)b->size;
  r->rate = b->rate;
  copy_stack(r->stack0, b);
}

MPROF_PUBLIC int mprof_mem_profile(struct mprof_mem_record *records, size_t len,
                                   int inuse_zero, size_t *n) {
  int error = enter(records, len, n, (uintptr_t)__builtin_frame_address(0));
  if (error != 0)
    return -error;
  mprof_lock_acquire(&mprof_active_lock);
  struct mprof_bucket *b = mprof_mem_publish_locked(inuse_zero != 0, n);
  bool fits = *n <= len;
  size_t i = 0;
  for (; fits && b; b = b->allnext)
    if (inuse_zero || mprof_active_allocs(b) != mprof_active_frees(b))
      fill_mem_record(&records[i++], b);
  mprof_lock_release(&mprof_active_lock);
  mprof_guard_leave();
  mprof_msan_unpoison(records, i * sizeof(records[0]));
  return fits ? 0 : ERANGE;
}

MPROF_PUBLIC void
mprof_iterate_mem(void (*fn)(const struct mprof_mem_bucket *bucket, void *arg),
                  void *arg) {
  if (!mprof_process_ready() || !mprof_guard_enter())
    return;
  mprof_lock_acquire(&mprof_active_lock);
  size_t n;
  struct mprof_bucket *b = mprof_mem_publish_locked(true, &n);
  for (; b; b = b->allnext) {
    struct mprof_mem_bucket view = {.stack = b->stack,
                                    .stack_len = b->stack_len,
                                    .size = b->size,
                                    .allocs = mprof_active_allocs(b),
                                    .frees = mprof_active_frees(b),
                                    .rate = b->rate,
                                    .labels = mprof_labels_of(b->labels)};
    mprof_msan_unpoison(&view, sizeof(view));
    fn(&view, arg);
  }
  mprof_lock_release(&mprof_active_lock);
  mprof_guard_leave();
}

MPROF_PUBLIC int mprof_start_cpu_profile(int rate) {
  if (rate <= 0 || rate > (int)MPROF_CPU_RATE_MAX)
    return EINVAL;
  if (!mprof_process_ready())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  const int error = mprof_cpu_start((unsigned)rate, true);
  mprof_guard_leave();
  return -error;
}

MPROF_PUBLIC void mprof_stop_cpu_profile(void) {
  if (mprof_process_ready())
    mprof_cpu_end();
}

MPROF_PUBLIC uint64_t mprof_ticks_per_second(void) {
  return mprof_clock_ticks_per_second();
}

// --- waits ---

// Fills record r from sample s. (Go: copyBlockProfileRecord)
static void fill_wait_record(struct mprof_block_record *r,
                             const struct mprof_wait_sample *s) {
  memset(r, 0, sizeof(*r));
  r->count = s->count;
  r->cycles = s->cycles;
  copy_stack(r->stack0, s->bucket);
}

static int wait_profile(enum mprof_bucket_type type,
                        struct mprof_block_record *records, size_t len,
                        size_t *n) {
  int error = enter(records, len, n, (uintptr_t)__builtin_frame_address(0));
  if (error != 0)
    return error;
  struct mprof_wait_snapshot s;
  error = mprof_wait_snapshot_take(&s, type, true);
  *n = s.len;
  if (error == 0 && s.len > len)
    error = -ERANGE;
  for (size_t i = 0; error == 0 && i < s.len; i++)
    fill_wait_record(&records[i], &s.samples[i]);
  if (error == 0)
    mprof_msan_unpoison(records, s.len * sizeof(records[0]));
  mprof_wait_snapshot_free(&s);
  mprof_guard_leave();
  return error;
}

MPROF_PUBLIC int mprof_block_profile(struct mprof_block_record *records,
                                     size_t len, size_t *n) {
  return -wait_profile(MPROF_BUCKET_BLOCK, records, len, n);
}

MPROF_PUBLIC int mprof_mutex_profile(struct mprof_block_record *records,
                                     size_t len, size_t *n) {
  return -wait_profile(MPROF_BUCKET_MUTEX, records, len, n);
}

// --- threads ---

// Writes one record for each thread: the stack that created the thread. Array
// elements after the last record stay unchanged.
static void fill_creators(struct mprof_stack_record *records,
                          const struct mprof_threadcreate_snapshot *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->len; i++)
    for (uint64_t k = 0; k < s->samples[i].count; k++)
      fill_stack_record(&records[n++], s->samples[i].bucket);
  mprof_msan_unpoison(records, n * sizeof(records[0]));
}

MPROF_PUBLIC int mprof_thread_create_profile(struct mprof_stack_record *records,
                                             size_t len, size_t *n) {
  int error = enter(records, len, n, (uintptr_t)__builtin_frame_address(0));
  if (error != 0)
    return -error;
  struct mprof_threadcreate_snapshot s;
  error = mprof_threadcreate_snapshot_take(&s, true);
  *n = s.threads;
  if (error == 0 && s.threads > len)
    error = -ERANGE;
  if (error == 0)
    fill_creators(records, &s);
  mprof_threadcreate_snapshot_free(&s);
  mprof_guard_leave();
  return -error;
}

// Begins a public function that reads other threads' stacks. frame: frame
// address of the public function. Returns 0 or -errno. Returns -ENOSYS in a
// child of vfork, _Fork or clone, because such a child has no other threads.
// This case is checked before the guard is set, because a vfork child shares
// the guard with its parent.
static int enter_for_threads(const void *records, size_t len, size_t *n,
                             uintptr_t frame) {
  if (n == NULL)
    return -EINVAL;
  *n = 0;
  mprof_msan_unpoison(n, sizeof(*n));
  if (!mprof_process_ready() || !mprof_process_is_own())
    return -ENOSYS;
  return enter(records, len, n, frame);
}

// Fills one record for each thread of s and returns 0. If s has more than len
// threads, fills no record and returns -ERANGE.
static int fill_stacks(struct mprof_stack_record *records, size_t len,
                       const struct mprof_thread_stacks *s) {
  if (s->len > len)
    return -ERANGE;
  for (size_t i = 0; i < s->len; i++)
    fill_stack_record(&records[i], s->v[i]->stack);
  mprof_msan_unpoison(records, s->len * sizeof(*records));
  return 0;
}

MPROF_PUBLIC int mprof_thread_profile(struct mprof_stack_record *records,
                                      size_t len, size_t *n) {
  int error =
      enter_for_threads(records, len, n, (uintptr_t)__builtin_frame_address(0));
  if (error != 0)
    return -error;
  struct mprof_thread_stacks s;
  error = mprof_thread_stacks_take(&s, (uintptr_t)__builtin_frame_address(0),
                                   len, mprof_flags.threads_stop);
  *n = s.threads;
  if (error == 0)
    error = fill_stacks(records, len, &s);
  mprof_thread_stacks_free(&s);
  mprof_guard_leave();
  return -error;
}

MPROF_PUBLIC int mprof_thread_leak_profile(struct mprof_stack_record *records,
                                           size_t len, size_t *n) {
  int error =
      enter_for_threads(records, len, n, (uintptr_t)__builtin_frame_address(0));
  if (error != 0)
    return -error;
  struct mprof_caller caller;
  MPROF_CALLER(&caller);
  mprof_stuck_enter(&caller);
  struct mprof_stuck g;
  error = mprof_stuck_take(&g, &caller, 0);
  *n = g.stacks.threads;
  if (error == 0)
    error = fill_stacks(records, len, &g.stacks);
  mprof_stuck_free(&g);
  mprof_stuck_leave();
  mprof_guard_leave();
  return -error;
}

// --- files ---

static int take_and_write(struct mprof_profile_request *r, const char *path) {
  int error = mprof_profile_take(r);
  if (error == 0)
    error = mprof_write_file(path, r->form == MPROF_FORM_PPROF,
                             mprof_profile_put, r);
  mprof_profile_drop(r);
  return error;
}

MPROF_PUBLIC int mprof_write_profile(const char *name, const char *path,
                                     int debug) {
  if (name == NULL || path == NULL || debug < 0 || debug >= MPROF_FORMS)
    return EINVAL;
  struct mprof_profile_request r = {.form = (enum mprof_profile_form)debug};
  if (!mprof_profile_find(&r, name) || r.form > r.row->kind->last_form)
    return EINVAL;
  if (!mprof_process_ready() || !mprof_process_is_own())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&mprof_writer_lock);
  MPROF_CALLER(&mprof_writer_caller);
  int error = take_and_write(&r, path);
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
  return -error;
}

MPROF_PUBLIC int mprof_profile_write(const struct mprof_profile *profile,
                                     const char *path, int debug) {
  const char *name = mprof_custom_profile_of(profile);
  return name != NULL ? mprof_write_profile(name, path, debug) : EINVAL;
}

// --- list of the profiles ---

static bool comes_first(const void *a, const void *b) {
  return strcmp(a, b) < 0;
}

MPROF_PUBLIC int mprof_profiles(const char **names, size_t len, size_t *n) {
  const char *all[MPROF_PROFILES + MPROF_CUSTOM_PROFILES];
  if (n == NULL || (names == NULL && len > 0))
    return EINVAL;
  *n = 0;
  for (size_t i = 0; i < MPROF_PROFILES; i++) {
    const struct mprof_profile_row *row = &mprof_profile_rows[i];
    if (row->name != NULL &&
        (row->kind->is_offered == NULL || row->kind->is_offered(row)))
      all[(*n)++] = row->name;
  }
  const size_t custom = mprof_custom_profiles();
  for (size_t i = 0; i < custom; i++)
    all[(*n)++] = mprof_custom_profile_name(i);
  mprof_sort((void **)all, *n, comes_first);
  mprof_msan_unpoison(n, sizeof(*n));
  if (*n > len)
    return ERANGE;
  if (names != NULL)
    memcpy(names, all, *n * sizeof(names[0]));
  mprof_msan_unpoison(names, *n * sizeof(names[0]));
  return 0;
}

// --- rates (Go: MemProfileRate, SetBlockProfileRate,
// SetMutexProfileFraction) ---

MPROF_PUBLIC size_t mprof_set_heap_rate(size_t bytes) {
  if (!mprof_process_ready() || !mprof_guard_enter())
    return 0;
  uint64_t before = mprof_sample_set_rate(bytes);
  mprof_guard_leave();
  return (size_t)before;
}

MPROF_PUBLIC int64_t mprof_set_block_rate(int64_t ns) {
  if (!mprof_process_ready() || !mprof_guard_enter())
    return 0;
  uint64_t before = mprof_contention_set_block_rate(ns < 0 ? 0 : (uint64_t)ns);
  mprof_guard_leave();
  return (int64_t)before;
}

MPROF_PUBLIC int mprof_set_mutex_fraction(int n) {
  if (!mprof_process_ready() || !mprof_guard_enter())
    return 0;
  uint64_t before = mprof_contention_set_mutex_fraction(n);
  mprof_guard_leave();
  return before > INT_MAX ? INT_MAX : (int)before;
}
