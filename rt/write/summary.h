// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All data for the output at the end of a process: the snapshots of all kinds,
// grouped by stack, and the decision which of them get a file. It writes
// nothing itself.

#ifndef MPROF_RT_WRITE_SUMMARY_H
#define MPROF_RT_WRITE_SUMMARY_H

#include "bucket/custom_profile.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_custom.h"
#include "snapshot/snapshot_threadcreate.h"
#include "stuck/stuck.h"

struct mprof_summary {
  struct mprof_mem_snapshot heap;
  struct mprof_wait_snapshot block, mutex; // one sample per stack and lock
  // Live threads, or all threads with the option all_threads.
  struct mprof_thread_snapshot threads;
  struct mprof_thread_snapshot created; // all threads, one sample per stack
  // By the number of the profile.
  struct mprof_custom_snapshot custom[MPROF_CUSTOM_PROFILES];
  size_t custom_len;
  struct mprof_thread_stacks stacks; // grouped, with the option threads
  struct mprof_stuck stuck;          // with the option threadleak
  // mprof_summary_group sets the fields from here on.
  struct mprof_stacks heap_stacks;
  struct mprof_heapx_stacks heapx_stacks;
  struct mprof_wait_stacks block_stacks, mutex_stacks;
  size_t thread_stacks; // number of creation stacks in the profile threadcreate
  // Whether each profile gets a file and a section in the report.
  bool has_heap, has_heapx, has_block, has_mutex, has_threads;
};
// Takes and groups all snapshots that the options ask for. Returns 0 or ENOMEM.
// Free *s with mprof_summary_free in either case. Call with the guard set and
// writer_lock held.
int mprof_summary_take(struct mprof_summary *s);
// Groups the snapshots of s: the second half of mprof_summary_take, which tests
// call by itself. Returns 0 or ENOMEM.
int mprof_summary_group(struct mprof_summary *s);
void mprof_summary_free(struct mprof_summary *s);
// Returns whether any snapshot has a stack to show, so that names of functions
// are needed.
bool mprof_summary_has_stacks(const struct mprof_summary *s);

#endif // MPROF_RT_WRITE_SUMMARY_H
