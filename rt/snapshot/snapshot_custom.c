// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes snapshots of the profiles that the program defines (custom_profile.h).
// A sample is the number of values that one stack has added and the program has
// not removed. (Go: first half of printCountProfile)

#include "snapshot/snapshot_custom.h"

#include "bucket/bucket.h"
#include "bucket/custom_profile.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "sys/sort.h"

#include <errno.h>

static bool has_more(const void *a, const void *b) {
  const struct mprof_custom_sample *x = a, *y = b;
  if (x->count != y->count)
    return x->count > y->count;
  // Samples with equal counts have an arbitrary but fixed order.
  return (uintptr_t)x->bucket < (uintptr_t)y->bucket;
}

// Copies the samples of profile `number` to v, but at most cap samples. Returns
// the number of samples that the profile has, which may exceed cap.
static size_t copy_locked(struct mprof_custom_sample *v, size_t cap,
                          size_t number) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_PROFILES));
  size_t n = 0;
  for (const struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_CUSTOM);
       b != NULL; b = b->allnext) {
    if (b->size != mprof_custom_profile_key(number) || b->custom.values == 0)
      continue;
    if (n < cap)
      v[n] =
          (struct mprof_custom_sample){.bucket = b, .count = b->custom.values};
    n++;
  }
  return n;
}

static int copy(struct mprof_custom_snapshot *s, size_t number) {
  size_t cap = 64;
  for (;;) {
    s->mapped_bytes = cap * (sizeof(*s->samples) + sizeof(*s->sorted));
    s->samples = mprof_os_map(s->mapped_bytes);
    if (s->samples == NULL)
      return -ENOMEM;
    mprof_lock_acquire(mprof_custom_profile_lock(number));
    s->len = copy_locked(s->samples, cap, number);
    mprof_lock_release(mprof_custom_profile_lock(number));
    if (s->len <= cap)
      break;
    mprof_os_unmap(s->samples, s->mapped_bytes);
    cap = s->len + 64; // room for samples that are added meanwhile
  }
  s->sorted = (const struct mprof_custom_sample **)(s->samples + cap);
  return 0;
}

int mprof_custom_snapshot_take(struct mprof_custom_snapshot *s, size_t number) {
  *s = (struct mprof_custom_snapshot){.name = mprof_custom_profile_name(number),
                                      .time_ns = mprof_sys_realtime_ns()};
  int error = copy(s, number);
  if (error != 0)
    return error;
  for (size_t i = 0; i < s->len; i++) {
    s->sorted[i] = &s->samples[i];
    s->values += s->samples[i].count;
  }
  mprof_sort((void **)s->sorted, s->len, has_more);
  return 0;
}

void mprof_custom_snapshot_free(struct mprof_custom_snapshot *s) {
  if (s->samples != NULL)
    mprof_os_unmap(s->samples, s->mapped_bytes);
  *s = (struct mprof_custom_snapshot){0};
}
