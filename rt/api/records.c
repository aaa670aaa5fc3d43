// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the public functions that copy the heap profile and the thread
// creation profile into an array of records that the program provides. (Go:
// MemProfile, ThreadCreateProfile)

#include "api/records.h"

#include "bucket/bucket.h"
#include "bucket/cycle.h"
#include "mprof/mprof.h"
#include "process/process.h"
#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_threadcreate.h"
#include "sys/clock.h"
#include "sys/flags.h"
#include "sys/lock.h"
#include "sys/msan.h"
#include "sys/tls.h"
#include "thread/labels.h"

#include <errno.h>
#include <string.h>

int mprof_records_enter(const void *records, size_t len, size_t *n,
                        uintptr_t frame) {
  if (n == NULL)
    return -EINVAL;
  *n = 0;
  mprof_msan_unpoison(n, sizeof(*n));
  if (records == NULL && len > 0)
    return -EINVAL;
  if (!mprof_init_ready())
    return -ENOSYS;
  return mprof_guard_enter_for(frame) ? 0 : -EBUSY;
}

void mprof_record_copy_stack(mprof_pc to[MPROF_RECORD_STACK],
                             const struct mprof_bucket *b) {
  size_t n = b->stack_len;
  if (n > MPROF_RECORD_STACK)
    n = MPROF_RECORD_STACK;
  memcpy(to, b->stack, n * sizeof(b->stack[0]));
}

void mprof_record_fill_stack(struct mprof_stack_record *r,
                             const struct mprof_bucket *b) {
  memset(r, 0, sizeof(*r));
  mprof_record_copy_stack(r->stack0, b);
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
  mprof_record_copy_stack(r->stack0, b);
}

MPROF_PUBLIC int mprof_mem_profile(struct mprof_mem_record *records, size_t len,
                                   int inuse_zero, size_t *n) {
  int error = mprof_records_enter(records, len, n,
                                  (uintptr_t)__builtin_frame_address(0));
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
  if (!mprof_init_ready() || !mprof_guard_enter())
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

MPROF_PUBLIC uint64_t mprof_ticks_per_second(void) {
  return mprof_clock_ticks_per_second();
}

// --- threads ---

// Writes one record for each thread: the stack that created the thread. Array
// elements after the last record stay unchanged.
static void fill_creators(struct mprof_stack_record *records,
                          const struct mprof_threadcreate_snapshot *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->len; i++)
    for (uint64_t k = 0; k < s->samples[i].count; k++)
      mprof_record_fill_stack(&records[n++], s->samples[i].bucket);
  mprof_msan_unpoison(records, n * sizeof(records[0]));
}

MPROF_PUBLIC int mprof_thread_create_profile(struct mprof_stack_record *records,
                                             size_t len, size_t *n) {
  int error = mprof_records_enter(records, len, n,
                                  (uintptr_t)__builtin_frame_address(0));
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
