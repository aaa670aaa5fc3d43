// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the heap profile as legacy text. The numbers in the text are not
// scaled, because readers scale them by the sampling rate in the first line.
// Readers scale a bucket wrongly if it was sampled at a different rate. A
// comment in the file has the number of such buckets. (Go: writeHeapInternal
// with debug=1)

#include "write/write_text.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "snapshot/snapshot_heap.h"
#include "sys/os_linux.h"
#include "sys/sort.h"
#include "write/legacy.h"

#include <errno.h>

struct writer {
  struct mprof_legacy text;
  const struct mprof_mem_sample **sorted;
  size_t len;
};

static uint64_t inuse(const struct mprof_mem_sample *s) {
  return s->allocs > s->frees ? s->allocs - s->frees : 0;
}

static bool has_more_in_use(const void *a, const void *b) {
  const struct mprof_mem_sample *x = a, *y = b;
  return inuse(x) * x->bucket->size > inuse(y) * y->bucket->size;
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

// Writes the first line, which has the totals and the rate. If the totals of
// bytes in use and of allocated bytes are equal, readers assume a profile
// without allocated bytes. They cannot merge it with other profiles. Therefore
// this function then adds 1 to the total of allocated bytes. Readers do not use
// the totals otherwise. The line has twice the sampling rate, as in the first
// profiler that wrote this format.
static void put_header(struct writer *w, const struct mprof_mem_snapshot *s) {
  uint64_t total[4] = {0};
  for (size_t i = 0; i < s->len; i++) {
    const struct mprof_mem_sample *x = &s->samples[i];
    total[0] += inuse(x);
    total[1] += inuse(x) * x->bucket->size;
    total[2] += x->allocs;
    total[3] += x->allocs * x->bucket->size;
  }
  if (total[1] == total[3])
    total[3]++;
  mprof_outfile_text(w->text.out, "heap profile: ");
  put_counts(w->text.out, total);
  mprof_outfile_text(w->text.out, " heap/");
  mprof_outfile_dec(w->text.out, 2 * s->rate);
  mprof_outfile_text(w->text.out, "\n");
}

static void put_sample(struct writer *w, const struct mprof_mem_sample *s) {
  const struct mprof_bucket *b = s->bucket;
  const uint64_t counts[4] = {inuse(s), inuse(s) * b->size, s->allocs,
                              s->allocs * b->size};
  put_counts(w->text.out, counts);
  mprof_legacy_stack(&w->text, b);
}

static void put_other_rates(struct writer *w,
                            const struct mprof_mem_snapshot *s) {
  struct mprof_outfile *f = w->text.out;
  size_t others = 0;
  for (size_t i = 0; i < s->len; i++)
    others += s->samples[i].bucket->rate != s->rate;
  if (others == 0)
    return;
  mprof_outfile_text(f, "# records sampled at another rate = ");
  mprof_outfile_dec(f, others);
  mprof_outfile_text(f, "\n");
}

static int write_all(struct mprof_outfile *f, struct writer *w,
                     const struct mprof_mem_snapshot *s) {
  mprof_legacy_begin(&w->text, f, s->len > 0);
  put_header(w, s);
  for (size_t i = 0; i < w->len && w->text.out->error == 0; i++)
    put_sample(w, w->sorted[i]);
  mprof_legacy_stats(&w->text);
  put_other_rates(w, s);
  return mprof_legacy_end(&w->text, "MAPPED_LIBRARIES:");
}

int mprof_write_heap_text(struct mprof_outfile *f,
                          const struct mprof_mem_snapshot *s) {
  size_t size = sizeof(struct writer) + s->len * sizeof(void *);
  struct writer *w = mprof_os_map(size);
  if (w == NULL)
    return mprof_outfile_fail(f, -ENOMEM);
  w->sorted = (const struct mprof_mem_sample **)(w + 1);
  for (size_t i = 0; i < s->len; i++)
    if (s->samples[i].allocs != 0 || s->samples[i].frees != 0)
      w->sorted[w->len++] = &s->samples[i];
  mprof_sort((void **)w->sorted, w->len, has_more_in_use);
  int error = write_all(f, w, s);
  mprof_os_unmap(w, size);
  return error;
}
