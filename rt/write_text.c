// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap profile as legacy text. Numbers are as sampled: readers scale them
// by the rate in the first line, so buckets of another rate come out wrong,
// which a comment says. (Go: writeHeapInternal with debug=1)

#include "flags.h"
#include "writer.h"

#include <errno.h>
#include <string.h>

enum { COMMAND_SIZE = 4096 };

struct writer {
  struct mprof_outfile out;
  const struct mprof_mem_sample **sorted;
  size_t len;
  mprof_pc pc;    // whose frames are being written
  bool has_names; // frames are written at all
  char command[COMMAND_SIZE];
};

static uint64_t inuse(const struct mprof_mem_sample *s) {
  return s->allocs > s->frees ? s->allocs - s->frees : 0;
}

static bool has_more_in_use(const void *a, const void *b) {
  const struct mprof_mem_sample *x = a, *y = b;
  return inuse(x) * x->bucket->size > inuse(y) * y->bucket->size;
}

// "1: 10 [2: 20] @"
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

// Readers take a profile whose totals in use and allocated are equal for one
// of two columns, which does not merge with others. They use the totals for
// nothing else, so Go makes them differ. The rate is doubled as the first
// profiler that wrote this format did.
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
  mprof_outfile_text(&w->out, "heap profile: ");
  put_counts(&w->out, total);
  mprof_outfile_text(&w->out, " heap/");
  mprof_outfile_dec(&w->out, 2 * s->rate);
  mprof_outfile_text(&w->out, "\n");
}

static void put_frame(const struct mprof_frame *f, void *arg) {
  struct writer *w = arg;
  mprof_outfile_text(&w->out, "#\t0x");
  mprof_outfile_hex(&w->out, w->pc);
  mprof_outfile_text(&w->out, "\t");
  if (f->function[0] != '\0') {
    mprof_outfile_text(&w->out, f->function);
  } else {
    mprof_outfile_text(&w->out, f->module);
    mprof_outfile_text(&w->out, "+0x");
    mprof_outfile_hex(&w->out, f->offset);
  }
  if (f->file[0] != '\0') {
    mprof_outfile_text(&w->out, "\t");
    mprof_outfile_text(&w->out, f->file);
    mprof_outfile_text(&w->out, ":");
    mprof_outfile_dec(&w->out, f->line);
  }
  mprof_outfile_text(&w->out, "\n");
}

static void put_sample(struct writer *w, const struct mprof_mem_sample *s) {
  const struct mprof_bucket *b = s->bucket;
  const uint64_t counts[4] = {inuse(s), inuse(s) * b->size, s->allocs,
                              s->allocs * b->size};
  put_counts(&w->out, counts);
  for (uint32_t i = b->skip; i < b->stack_len; i++) {
    mprof_outfile_text(&w->out, " 0x");
    mprof_outfile_hex(&w->out, b->stack[i]);
  }
  mprof_outfile_text(&w->out, "\n");
  for (uint32_t i = b->skip; w->has_names && i < b->stack_len; i++) {
    w->pc = b->stack[i];
    mprof_symbolize(w->pc, put_frame, w);
  }
  if (b->end != MPROF_STACK_COMPLETE)
    mprof_outfile_text(&w->out, "#\t[truncated]\n");
  mprof_outfile_text(&w->out, "\n");
}

static void put_stats(struct writer *w, const struct mprof_mem_snapshot *s) {
  struct mprof_outfile *f = &w->out;
  size_t others = 0;
  for (size_t i = 0; i < s->len; i++)
    others += s->samples[i].bucket->rate != s->rate;
  mprof_command_line(w->command, sizeof(w->command));
  mprof_outfile_text(f, "# MProf " MPROF_VERSION "\n# command = ");
  mprof_outfile_text(f, w->command);
  mprof_outfile_text(f, "\n");
  for (int i = 0; i < MPROF_STAT_COUNT; i++) {
    uint64_t n = mprof_stat_get(i);
    if (mprof_stat_infos[i].is_loss && n == 0)
      continue;
    mprof_outfile_text(f, "# ");
    mprof_outfile_text(f, mprof_stat_infos[i].name);
    mprof_outfile_text(f, " = ");
    mprof_outfile_dec(f, n);
    mprof_outfile_text(f, "\n");
  }
  if (others != 0) {
    mprof_outfile_text(f, "# records sampled at another rate = ");
    mprof_outfile_dec(f, others);
    mprof_outfile_text(f, "\n");
  }
}

static void put_maps(struct writer *w) {
  struct mprof_infile maps;
  mprof_outfile_text(&w->out, "\nMAPPED_LIBRARIES:\n");
  if (mprof_infile_read(&maps, "/proc/self/maps") != 0)
    return;
  mprof_outfile_put(&w->out, maps.data, maps.len);
  mprof_infile_free(&maps);
}

static int write_all(struct writer *w, const struct mprof_mem_snapshot *s,
                     const char *path) {
  w->has_names =
      mprof_flags.symbolize && s->len > 0 && mprof_symbolize_begin(true) == 0;
  int error = mprof_outfile_open(&w->out, path, false);
  if (error == 0) {
    put_header(w, s);
    for (size_t i = 0; i < w->len && w->out.error == 0; i++)
      put_sample(w, w->sorted[i]);
    put_stats(w, s);
    put_maps(w);
    error = mprof_outfile_close(&w->out);
  }
  if (w->has_names)
    mprof_symbolize_end();
  return error;
}

int mprof_write_heap_text(const struct mprof_mem_snapshot *s,
                          const char *path) {
  size_t size = sizeof(struct writer) + s->len * sizeof(void *);
  struct writer *w = mprof_os_map(size);
  if (w == NULL)
    return ENOMEM;
  w->sorted = (const struct mprof_mem_sample **)(w + 1);
  for (size_t i = 0; i < s->len; i++)
    if (s->samples[i].allocs != 0 || s->samples[i].frees != 0)
      w->sorted[w->len++] = &s->samples[i];
  mprof_sort((void **)w->sorted, w->len, has_more_in_use);
  int error = write_all(w, s, path);
  mprof_os_unmap(w, size);
  return error;
}
