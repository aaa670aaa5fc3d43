// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the end of a process tells of.

#ifndef MPROF_RT_WRITE_SUMMARY_H
#define MPROF_RT_WRITE_SUMMARY_H

#include "bucket/custom_profile.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_custom.h"
#include "snapshot/snapshot_threadcreate.h"
#include "stuck/stuck.h"

struct mprof_summary {
  struct mprof_mem_snapshot heap;
  struct mprof_wait_snapshot block, mutex; // by lock
  struct mprof_thread_snapshot threads;    // as the options ask
  struct mprof_thread_snapshot created;    // all, by stack
  struct mprof_custom_snapshot custom[MPROF_CUSTOM_PROFILES]; // by number
  size_t custom_len;
  struct mprof_thread_stacks stacks; // grouped, with the option threads
  struct mprof_stuck stuck;          // with the option threadleak
  // Set by mprof_summary_group:
  struct mprof_stacks heap_stacks;
  struct mprof_heapx_stacks heapx_stacks;
  struct mprof_wait_stacks block_stacks, mutex_stacks;
  size_t thread_stacks; // that threads have
  // Worth telling of:
  bool has_heap, has_heapx, has_block, has_mutex, has_threads;
};
// 0 or ENOMEM. Free it with mprof_summary_free in either case.
int mprof_summary_take(struct mprof_summary *s);
// The second half of taking one, for tests: sums up what the snapshots have.
int mprof_summary_group(struct mprof_summary *s);
void mprof_summary_free(struct mprof_summary *s);
bool mprof_summary_has_stacks(const struct mprof_summary *s);

#endif // MPROF_RT_WRITE_SUMMARY_H
