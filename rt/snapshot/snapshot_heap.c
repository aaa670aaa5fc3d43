// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes snapshots of the heap profile; see snapshot_heap.h. A snapshot is a
// copy of the published counts (`active`) of all buckets, which active_lock
// guards. (Go: memProfileInternal)

#include "snapshot/snapshot_heap.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/heapx.h"
#include "bucket/peak.h"
#include "heap/sample.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "sys/stats.h"
#include "unwind/stack_end.h"

#include <errno.h>
#include <string.h>

static size_t count_locked(struct mprof_bucket *head, bool inuse_zero,
                           bool *clear) {
  size_t n = 0;
  *clear = true;
  for (struct mprof_bucket *b = head; b; b = b->allnext) {
    if (inuse_zero || mprof_active_allocs(b) != mprof_active_frees(b))
      n++;
    if (mprof_active_allocs(b) != 0 || mprof_active_frees(b) != 0)
      *clear = false;
  }
  return n;
}

struct mprof_bucket *mprof_mem_publish_locked(bool inuse_zero, size_t *n) {
  const bool shows_all = mprof_cycle_dump_ends_it(false);
  if (shows_all)
    mprof_cycle_publish_all_locked();
  else
    mprof_cycle_flush_locked(mprof_cycle_read() % 3);
  struct mprof_bucket *head = mprof_bucket_first(MPROF_BUCKET_MEM);
  bool clear;
  *n = count_locked(head, inuse_zero, &clear);
  if (clear && !shows_all) {
    mprof_cycle_publish_all_locked();
    *n = count_locked(head, inuse_zero, &clear);
  }
  return head;
}

// Computes some statistics, such as the number of samples, from the profile. If
// each event updated these statistics, each event would need one more atomic
// addition.
static void set_stats(const struct mprof_mem_snapshot *s) {
  uint64_t allocs = 0, frees = 0, cut[3] = {0, 0, 0};
  for (size_t i = 0; i < s->len; i++) {
    allocs += s->samples[i].allocs;
    frees += s->samples[i].frees;
    cut[s->samples[i].bucket->end % 3] += s->samples[i].allocs;
  }
  mprof_stat_set(MPROF_STAT_samples, allocs);
  mprof_stat_set(MPROF_STAT_sample_frees, frees);
  mprof_stat_set(MPROF_STAT_truncated_chain, cut[MPROF_STACK_CUT_CHAIN]);
  mprof_stat_set(MPROF_STAT_truncated_depth, cut[MPROF_STACK_CUT_DEPTH]);
}

static void copy_heapx(struct mprof_heapx_sample *x,
                       const struct mprof_bucket *b) {
  const struct mprof_heapx_cycle *active = &mprof_heapx_of(b)->active;
  for (int i = 0; i < MPROF_HEAPX_COUNTERS; i++)
    x->n[i] = atomic_load_explicit(&active->n[i], memory_order_relaxed);
}

int mprof_mem_snapshot_take(struct mprof_mem_snapshot *s, bool end_cycle) {
  int err = 0;
  memset(s, 0, sizeof(*s));
  s->rate = mprof_sample_rate();
  s->time_ns = mprof_sys_realtime_ns();
  if (end_cycle) {
    mprof_cycle_next();
    mprof_cycle_publish();
  }
  mprof_lock_acquire(&mprof_active_lock);
  size_t n;
  struct mprof_bucket *b = mprof_mem_publish_locked(true, &n);
  if (n > 0) {
    size_t each = sizeof(s->samples[0]);
    if (mprof_heapx_is_on())
      each += sizeof(s->heapx[0]);
    s->mapped_bytes = n * each;
    s->samples = mprof_os_map(s->mapped_bytes);
    if (!s->samples)
      err = -ENOMEM;
    else if (mprof_heapx_is_on())
      s->heapx = (struct mprof_heapx_sample *)(s->samples + n);
  }
  for (; s->samples && b; b = b->allnext) {
    if (s->heapx)
      copy_heapx(&s->heapx[s->len], b);
    s->samples[s->len++] =
        (struct mprof_mem_sample){.bucket = b,
                                  .allocs = mprof_active_allocs(b),
                                  .frees = mprof_active_frees(b)};
  }
  mprof_lock_release(&mprof_active_lock);
  set_stats(s);
  return err;
}

// Copies the counts at the peak. Returns false if the samples have no room for
// all buckets, which are more than `room`.
static bool copy_peak_locked(struct mprof_mem_snapshot *s, size_t room) {
  struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM);
  for (size_t i = 0; b; b = b->allnext, i++) {
    if (i == room)
      return false;
    const struct mprof_peak_pair n = mprof_peak_of_locked(b);
    if (n.allocs != 0)
      s->samples[s->len++] = (struct mprof_mem_sample){
          .bucket = b, .allocs = n.allocs, .frees = n.frees};
  }
  const uint64_t ticks = mprof_peak_locked().ticks, now = mprof_clock_about();
  s->time_ns = mprof_sys_realtime_ns();
  // The clock of this processor may be a little behind.
  if (ticks != 0 && now > ticks)
    s->time_ns -= (int64_t)mprof_clock_ns(now - ticks);
  return true;
}

// Other threads may add buckets until peak_lock is held. The snapshot must
// contain these buckets, because each of them may have made a new peak. So the
// snapshot has more room than there are buckets, and begins again if the room
// does not suffice.
int mprof_mem_snapshot_take_peak(struct mprof_mem_snapshot *s) {
  for (bool is_complete = false; !is_complete;) {
    memset(s, 0, sizeof(*s));
    s->rate = mprof_sample_rate();
    const size_t room = 64 + mprof_bucket_count(MPROF_BUCKET_MEM);
    s->mapped_bytes = (room + room / 4) * sizeof(s->samples[0]);
    s->samples = mprof_os_map(s->mapped_bytes);
    if (!s->samples)
      return -ENOMEM;
    mprof_lock_acquire(&mprof_peak_lock);
    is_complete = copy_peak_locked(s, room + room / 4);
    mprof_lock_release(&mprof_peak_lock);
    if (!is_complete)
      mprof_mem_snapshot_free(s);
  }
  return 0;
}

void mprof_mem_snapshot_free(struct mprof_mem_snapshot *s) {
  if (s->samples)
    mprof_os_unmap(s->samples, s->mapped_bytes);
  memset(s, 0, sizeof(*s));
}
