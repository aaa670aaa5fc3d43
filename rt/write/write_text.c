// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the heap profile as legacy text. Readers scale the numbers of the text
// by the sampling rate in the first line. The text therefore has the numbers of
// sampled blocks, if all samples have the same rate. Otherwise the text has the
// estimated numbers of all blocks, and the first line has the rate 1, with
// which readers do not scale. (Go: writeHeapInternal with debug=1)

#include "write/write_text.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "snapshot/estimate_heap.h"
#include "snapshot/snapshot_heap.h"
#include "sys/os_memory.h"
#include "sys/sort.h"
#include "write/legacy.h"

#include <errno.h>

struct writer {
  struct mprof_legacy text;
  const struct mprof_mem_sample **sorted;
  size_t len;
  uint64_t rate;     // sampling rate for the first line
  bool is_estimated; // the samples have different rates
};

static bool has_more_in_use(const void *a, const void *b) {
  const struct mprof_mem_sample *x = a, *y = b;
  return mprof_mem_inuse(x) * x->bucket->size >
         mprof_mem_inuse(y) * y->bucket->size;
}

// Stores the four numbers of a record: objects and bytes in use, objects and
// bytes allocated.
static void get_counts(const struct writer *w, const struct mprof_mem_sample *s,
                       uint64_t counts[4]) {
  if (w->is_estimated) {
    const struct mprof_mem_estimate e = mprof_mem_scale(s);
    counts[0] = (uint64_t)e.inuse_objects;
    counts[1] = (uint64_t)e.inuse_bytes;
    counts[2] = (uint64_t)e.alloc_objects;
    counts[3] = (uint64_t)e.alloc_bytes;
    return;
  }
  counts[0] = mprof_mem_inuse(s);
  counts[1] = mprof_mem_inuse(s) * s->bucket->size;
  counts[2] = s->allocs;
  counts[3] = s->allocs * s->bucket->size;
}

// Writes the four numbers of a record, such as "1: 10 [2: 20] @".
static void put_counts(struct mprof_outfile *f, const uint64_t counts[4]) {
  mprof_outfile_dec(f, counts[0]);
  mprof_outfile_text(f, ": ");
  mprof_outfile_dec(f, counts[1]);
  mprof_outfile_text(f, " [");
  mprof_outfile_dec(f, counts[2]);
  mprof_outfile_text(f, ": ");
  mprof_outfile_dec(f, counts[3]);
  mprof_outfile_text(f, "] @");
}

// Writes the first line, which has the totals and the rate. If the total of
// bytes in use and the total of allocated bytes are equal, readers assume that
// the profile has no allocated bytes. Readers cannot merge such a profile with
// other heap profiles. Therefore this function adds 1 to the total of allocated
// bytes if the totals are equal. Readers use the totals for nothing else. The
// rate in the line is twice the sampling rate, as in the first profiler that
// wrote this format.
static void put_header(struct writer *w) {
  uint64_t total[4] = {0}, counts[4];
  for (size_t i = 0; i < w->len; i++) {
    get_counts(w, w->sorted[i], counts);
    for (int k = 0; k < 4; k++)
      total[k] += counts[k];
  }
  if (total[1] == total[3])
    total[3]++;
  mprof_outfile_text(w->text.out, "heap profile: ");
  put_counts(w->text.out, total);
  mprof_outfile_text(w->text.out, " heap/");
  mprof_outfile_dec(w->text.out, 2 * w->rate);
  mprof_outfile_text(w->text.out, "\n");
}

static void put_sample(struct writer *w, const struct mprof_mem_sample *s) {
  uint64_t counts[4];
  get_counts(w, s, counts);
  put_counts(w->text.out, counts);
  mprof_legacy_stack(&w->text, s->bucket);
}

static int write_all(struct mprof_outfile *f, struct writer *w,
                     const struct mprof_mem_snapshot *s) {
  mprof_legacy_begin(&w->text, f, s->len > 0);
  put_header(w);
  for (size_t i = 0; i < w->len && w->text.out->error == 0; i++)
    put_sample(w, w->sorted[i]);
  mprof_legacy_stats(&w->text);
  if (w->is_estimated)
    mprof_outfile_text(f, "# the numbers are estimates of all blocks, because "
                          "heap_rate changed between the samples\n");
  return mprof_legacy_end(&w->text, "MAPPED_LIBRARIES:");
}

// Adds the samples that have events, and finds the rate for the first line.
static void gather(struct writer *w, const struct mprof_mem_snapshot *s) {
  w->rate = s->rate;
  for (size_t i = 0; i < s->len; i++) {
    const struct mprof_mem_sample *x = &s->samples[i];
    if (x->allocs == 0 && x->frees == 0)
      continue;
    if (w->len == 0)
      w->rate = x->bucket->rate;
    w->is_estimated |= x->bucket->rate != w->rate;
    w->sorted[w->len++] = x;
  }
  if (w->is_estimated)
    w->rate = 1;
}

int mprof_write_heap_text(struct mprof_outfile *f,
                          const struct mprof_mem_snapshot *s) {
  size_t size = sizeof(struct writer) + s->len * sizeof(void *);
  struct writer *w = mprof_os_map(size);
  if (w == NULL)
    return mprof_outfile_fail(f, -ENOMEM);
  w->sorted = (const struct mprof_mem_sample **)(w + 1);
  gather(w, s);
  mprof_sort((void **)w->sorted, w->len, has_more_in_use);
  int error = write_all(f, w, s);
  mprof_os_unmap(w, size);
  return error;
}
