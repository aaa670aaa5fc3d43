// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the public functions that copy the profiles of waits and of the
// threads' present stacks into an array of records that the program provides.
// (Go: BlockProfile, MutexProfile, GoroutineProfile)

#include "api/records.h"
#include "bucket/bucket.h"
#include "mprof/mprof.h"
#include "process/process.h"
#include "snapshot/snapshot_wait.h"
#include "stuck/stuck.h"
#include "stuck/stuck_graph.h"
#include "stuck/stuck_types.h"
#include "sys/caller.h"
#include "sys/flags.h"
#include "sys/msan.h"
#include "sys/tls.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_stacks.h"

#include <errno.h>
#include <string.h>

// --- waits ---

// Fills record r from sample s. (Go: copyBlockProfileRecord)
static void fill_wait_record(struct mprof_block_record *r,
                             const struct mprof_wait_sample *s) {
  memset(r, 0, sizeof(*r));
  r->count = s->count;
  r->cycles = s->cycles;
  mprof_record_copy_stack(r->stack0, s->bucket);
}

static int wait_profile(enum mprof_bucket_type type,
                        struct mprof_block_record *records, size_t len,
                        size_t *n) {
  int error = mprof_records_enter(records, len, n,
                                  (uintptr_t)__builtin_frame_address(0));
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
  if (!mprof_init_ready() || !mprof_process_is_own())
    return -ENOSYS;
  return mprof_records_enter(records, len, n, frame);
}

// Fills one record for each thread of s and returns 0. If s has more than len
// threads, fills no record and returns -ERANGE.
static int fill_stacks(struct mprof_stack_record *records, size_t len,
                       const struct mprof_thread_stacks *s) {
  if (s->len > len)
    return -ERANGE;
  for (size_t i = 0; i < s->len; i++)
    mprof_record_fill_stack(&records[i], s->v[i]->stack);
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
