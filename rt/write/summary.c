// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes all data for the output at the end of a process: snapshots of all
// kinds, grouped by stack, and the decision which of them get a file.

#include "write/summary.h"

#include "bucket/bucket.h"
#include "bucket/custom_profile.h"
#include "bucket/cycle.h"
#include "file/writer_lock.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/group_threads.h"
#include "snapshot/snapshot_custom.h"
#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "stuck/stuck.h"
#include "stuck/stuck_graph.h"
#include "sys/flags.h"
#include "wait/thread_stacks.h"

#include <string.h>

// Returns the number of creation stacks in the threadcreate profile.
static size_t count_thread_stacks(const struct mprof_summary *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->created.len; i++)
    n += mprof_flags.all_threads || s->created.samples[i].live > 0;
  return n;
}

int mprof_summary_group(struct mprof_summary *s) {
  int error = mprof_stacks_group(&s->heap_stacks, &s->heap);
  if (error == 0)
    error = mprof_heapx_stacks_group(&s->heapx_stacks, &s->heap);
  if (error == 0)
    error = mprof_wait_stacks_group(&s->block_stacks, &s->block, false);
  if (error == 0)
    error = mprof_wait_stacks_group(&s->mutex_stacks, &s->mutex, false);
  s->thread_stacks = count_thread_stacks(s);
  s->has_block = s->block.rate != 0 || s->block.len > 0;
  s->has_mutex = s->mutex.rate != 0 || s->mutex.len > 0;
  // A profile with only the first thread has nothing to show.
  s->has_threads = s->created.threads > 1;
  // If no allocations were counted, the heap profile tells the reason. It is
  // left out if the program records waits instead.
  s->has_heap = (mprof_flags.heap && s->heap.rate != 0) ||
                s->heap_stacks.samples > 0 || (!s->has_block && !s->has_mutex);
  s->has_heapx =
      s->heap.heapx != NULL || (mprof_flags.heapx && mprof_flags.heap);
  return error;
}

static int take_threads(struct mprof_summary *s) {
  int error =
      mprof_thread_snapshot_take(&s->threads, mprof_flags.all_threads, false);
  return error != 0 ? error
                    : mprof_thread_snapshot_take(&s->created, true, true);
}

static int take_custom(struct mprof_summary *s) {
  const size_t n = mprof_custom_profiles();
  int error = 0;
  for (; s->custom_len < n && error == 0; s->custom_len++)
    error =
        mprof_custom_snapshot_take(&s->custom[s->custom_len], s->custom_len);
  return error;
}

static int take_stacks(struct mprof_summary *s) {
  int error = mprof_thread_stacks_take(&s->stacks, mprof_writer_caller.frame,
                                       SIZE_MAX, mprof_flags.stop_threads);
  if (error == 0)
    mprof_thread_stacks_group(&s->stacks);
  return error;
}

static int take_stuck(struct mprof_summary *s) {
  int error = mprof_stuck_take(&s->stuck, &mprof_writer_caller, 0);
  if (error == 0)
    mprof_thread_stacks_group(&s->stuck.stacks);
  return error;
}

int mprof_summary_take(struct mprof_summary *s) {
  memset(s, 0, sizeof(*s));
  int error = mprof_mem_snapshot_take(&s->heap, mprof_cycle_dump_ends_it(true));
  if (error == 0)
    error = mprof_wait_snapshot_take(&s->block, MPROF_BUCKET_BLOCK, false);
  if (error == 0)
    error = mprof_wait_snapshot_take(&s->mutex, MPROF_BUCKET_MUTEX, false);
  if (error == 0 && mprof_flags.threadcreate)
    error = take_threads(s);
  if (error == 0)
    error = take_custom(s);
  if (error == 0 && mprof_flags.threads)
    error = take_stacks(s);
  if (error == 0 && mprof_flags.threadleak)
    error = take_stuck(s);
  return error != 0 ? error : mprof_summary_group(s);
}

static bool has_custom(const struct mprof_summary *s) {
  for (size_t i = 0; i < s->custom_len; i++)
    if (s->custom[i].len > 0)
      return true;
  return false;
}

bool mprof_summary_has_stacks(const struct mprof_summary *s) {
  return s->heap.len > 0 || s->block.len > 0 || s->mutex.len > 0 ||
         s->has_threads || s->stacks.len > 0 || s->stuck.stuck > 0 ||
         has_custom(s);
}

void mprof_summary_free(struct mprof_summary *s) {
  mprof_stacks_free(&s->heap_stacks);
  mprof_heapx_stacks_free(&s->heapx_stacks);
  mprof_wait_stacks_free(&s->block_stacks);
  mprof_wait_stacks_free(&s->mutex_stacks);
  mprof_mem_snapshot_free(&s->heap);
  mprof_wait_snapshot_free(&s->block);
  mprof_wait_snapshot_free(&s->mutex);
  mprof_thread_snapshot_free(&s->threads);
  mprof_thread_snapshot_free(&s->created);
  for (size_t i = 0; i < s->custom_len; i++)
    mprof_custom_snapshot_free(&s->custom[i]);
  mprof_thread_stacks_free(&s->stacks);
  mprof_stuck_free(&s->stuck);
}
