// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes snapshots by hand, for tests of the writers.

#ifndef MPROF_TEST_UNIT_SNAP_H
#define MPROF_TEST_UNIT_SNAP_H

#include "check.h"
#include "writer.h"

#include "bucket/bucket.h"
#include "bucket/heapx.h"
#include "file/outfile.h"
#include "snapshot/snapshot.h"
#include "write/kinds.h"
#include "write/profiles.h"
#include "write/report.h"

#ifndef SNAP_MAX
#define SNAP_MAX 64
#endif

static struct mprof_mem_sample snap_samples[SNAP_MAX];
static struct mprof_heapx_sample snap_heapx[SNAP_MAX];
static struct mprof_mem_snapshot snap = {
    .samples = snap_samples, .rate = 524288, .time_ns = 1700000000123456789};

// Adds allocations of `allocs` blocks of `size` bytes at a stack, of which
// `frees` blocks have been freed.
static inline struct mprof_bucket *snap_add(size_t size, uint64_t allocs,
                                            uint64_t frees, unsigned len,
                                            const mprof_pc *stack) {
  static struct mprof_bucket *made[SNAP_MAX]; // keeps the buckets reachable
  static size_t count;
  struct mprof_bucket *b = calloc(1, sizeof(*b) + len * sizeof(mprof_pc));
  CHECK(count < SNAP_MAX);
  made[count++] = b;
  b->type = MPROF_BUCKET_MEM;
  b->size = size;
  b->rate = snap.rate;
  b->stack_len = len;
  memcpy(b->stack, stack, len * sizeof(mprof_pc));
  snap_samples[snap.len++] =
      (struct mprof_mem_sample){.bucket = b, .allocs = allocs, .frees = frees};
  return b;
}

// Sets the heapx counters of the bucket that was added last.
static inline void snap_add_heapx(const uint64_t n[MPROF_HEAPX_COUNTERS]) {
  memcpy(snap_heapx[snap.len - 1].n, n, sizeof(snap_heapx[0].n));
  snap.heapx = snap_heapx;
}

// Makes the copies of all profiles from the snapshot.
static inline void snap_copy(struct mprof_summary *sum) {
  CHECK_EQ(mprof_summary_begin(sum), 0);
  CHECK_EQ(mprof_estimate_objects(&snap), 0);
  struct mprof_heap_copy *heap = sum->copies[MPROF_PROFILE_heap];
  heap->snapshot = snap;
  sum->time_ns = snap.time_ns;
  const struct mprof_profile_request heapx = {
      .row = &mprof_profile_rows[MPROF_PROFILE_heapx],
      .copy = sum->copies[MPROF_PROFILE_heapx],
      .copies = sum->copies};
  CHECK_EQ(heapx.row->kind->take(&heapx), 0);
  CHECK_EQ(mprof_summary_group(sum), 0);
}

static inline void snap_free(struct mprof_summary *sum) {
  struct mprof_heap_copy *heap = sum->copies[MPROF_PROFILE_heap];
  heap->snapshot.samples = NULL; // not a mapping
  heap->snapshot.heapx = NULL;
  mprof_summary_free(sum);
}

// Opens a file, evaluates call, which writes to `f`, and closes the file.
// Yields 0 or -errno.
#define SNAP_WRITE(path, gzip, call)                                           \
  __extension__({                                                              \
    static struct mprof_outfile file_;                                         \
    struct mprof_outfile *f = &file_;                                          \
    writer_enter();                                                            \
    int error_ = mprof_outfile_open(f, path, gzip);                            \
    if (error_ == 0) {                                                         \
      mprof_outfile_fail(f, call);                                             \
      error_ = mprof_outfile_close(f);                                         \
    }                                                                          \
    writer_leave();                                                            \
    error_;                                                                    \
  })

// Writes the report of the snapshot alone.
static inline int snap_report(const char *path) {
  struct mprof_summary sum;
  snap_copy(&sum);
  const int error = SNAP_WRITE(path, false, mprof_write_report(f, &sum));
  snap_free(&sum);
  return error;
}

// Writes the profile heap, allocs or heapx of the snapshot.
static inline int snap_write(const char *path, enum mprof_profile_id profile,
                             enum mprof_profile_form form) {
  struct mprof_summary sum;
  snap_copy(&sum);
  struct mprof_profile_request r = {
      .row = &mprof_profile_rows[profile],
      .form = form,
      .copy = sum.copies[profile == MPROF_PROFILE_allocs ? MPROF_PROFILE_heap
                                                         : profile],
      .copies = sum.copies};
  const int error =
      SNAP_WRITE(path, form == MPROF_FORM_PPROF, mprof_profile_put(f, &r));
  snap_free(&sum);
  return error;
}

// Returns a return address inside a function of the test.
static inline mprof_pc snap_pc(const void *function, unsigned offset) {
  return (mprof_pc)function + offset;
}

#endif // MPROF_TEST_UNIT_SNAP_H
