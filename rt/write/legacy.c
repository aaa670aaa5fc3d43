// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the parts that the legacy texts of all profiles share: stacks,
// statistics and mappings; see legacy.h. The other parts are in the kind_*.c
// files. (Go: printStackRecord)

#include "write/legacy.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "symbolize/maps.h"
#include "symbolize/module_unloads.h"
#include "symbolize/symbolize.h"
#include "sys/base.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "thread/labels.h"
#include "unwind/unwind.h"

#include <errno.h>

static void put_frame(const struct mprof_frame *f, void *arg) {
  struct mprof_legacy *w = arg;
  if (w->skip > 0) {
    w->skip--;
    return;
  }
  mprof_outfile_text(w->out, "#\t0x");
  mprof_outfile_hex(w->out, w->pc);
  mprof_outfile_text(w->out, "\t");
  if (f->function[0] != '\0') {
    mprof_outfile_text(w->out, f->function);
  } else {
    mprof_outfile_text(w->out, f->module);
    mprof_outfile_text(w->out, "+0x");
    mprof_outfile_hex(w->out, f->offset);
  }
  if (f->file[0] != '\0') {
    mprof_outfile_text(w->out, "\t");
    mprof_outfile_text(w->out, f->file);
    mprof_outfile_text(w->out, ":");
    mprof_outfile_dec(w->out, f->line);
  }
  mprof_outfile_text(w->out, "\n");
}

// Returns the address that the text shows for the return address pc. The result
// differs from pc if the code at pc was unloaded. The kernel does not list the
// mapping of unloaded code. Therefore this function sets has_names of the
// mapping, so that put_maps lists it.
// gone: field `gone` of the bucket with pc; see mprof_maps_shown.
static mprof_pc show(struct mprof_legacy *w, mprof_pc pc, uint32_t gone) {
  mprof_pc shown = mprof_maps_shown(&w->maps, pc, gone);
  if (shown != pc) {
    const struct mprof_mapping *m = mprof_maps_find(&w->maps, shown - 1);
    w->maps.v[m - w->maps.v].has_names = true;
  }
  return shown;
}

static void put_part(void *arg, const char *s, size_t len) {
  mprof_outfile_put(arg, s, len);
}

// Writes the labels in the format of Go's goroutine profile: # labels: {...}
static void put_labels(struct mprof_legacy *w, uint16_t labels) {
  if (labels == 0)
    return;
  mprof_outfile_text(w->out, "# labels: ");
  mprof_labels_write(labels, put_part, w->out);
  mprof_outfile_text(w->out, "\n");
}

void mprof_legacy_stack(struct mprof_legacy *w, const struct mprof_bucket *b) {
  if (mprof_symbolize_want_stack(b))
    return;
  const struct mprof_skipped skipped = mprof_stack_skipped(b, w->has_names);
  // Readers require an address and subtract 1 from it. Therefore 0x1 represents
  // an empty stack.
  if (b->stack_len == skipped.frames) {
    mprof_outfile_text(w->out, " 0x1\n#\t");
    mprof_outfile_text(w->out, w->empty_stack);
  }
  const uint32_t gone = mprof_bucket_gone(b);
  for (uint32_t i = skipped.frames; i < b->stack_len; i++) {
    mprof_outfile_text(w->out, " 0x");
    mprof_outfile_hex(w->out, show(w, b->stack[i], gone));
  }
  mprof_outfile_text(w->out, "\n");
  put_labels(w, b->labels);
  w->skip = skipped.functions;
  for (uint32_t i = skipped.frames; w->has_names && i < b->stack_len; i++) {
    w->pc = mprof_symbolize_shown(b->stack[i], gone);
    mprof_symbolize(w->pc, put_frame, w);
  }
  if (b->end != MPROF_STACK_COMPLETE)
    mprof_outfile_text(w->out, "#\t[truncated]\n");
  mprof_outfile_text(w->out, "\n");
}

void mprof_legacy_blocks(struct mprof_outfile *f, const uint64_t counts[4]) {
  mprof_outfile_dec(f, counts[0]);
  mprof_outfile_text(f, ": ");
  mprof_outfile_dec(f, counts[1]);
  mprof_outfile_text(f, " [");
  mprof_outfile_dec(f, counts[2]);
  mprof_outfile_text(f, ": ");
  mprof_outfile_dec(f, counts[3]);
  mprof_outfile_text(f, "] @");
}

void mprof_legacy_total(struct mprof_legacy *w, const char *name,
                        uint64_t total) {
  mprof_outfile_text(w->out, name);
  mprof_outfile_text(w->out, " profile: total ");
  mprof_outfile_dec(w->out, total);
  mprof_outfile_text(w->out, "\n");
}

void mprof_legacy_count(struct mprof_legacy *w, uint64_t count,
                        const struct mprof_bucket *b) {
  mprof_outfile_dec(w->out, count);
  mprof_outfile_text(w->out, " @");
  mprof_legacy_stack(w, b);
}

void mprof_legacy_stats(struct mprof_legacy *w) {
  struct mprof_outfile *f = w->out;
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
}

// Writes the unloaded mapping m in the format of a line of /proc/self/maps.
static void put_unloaded(struct mprof_legacy *w,
                         const struct mprof_mapping *m) {
  mprof_outfile_hex(w->out, m->start);
  mprof_outfile_text(w->out, "-");
  mprof_outfile_hex(w->out, m->limit);
  mprof_outfile_text(w->out, " r-xp ");
  mprof_outfile_hex(w->out, m->offset);
  mprof_outfile_text(w->out, " 00:00 0 ");
  mprof_outfile_text(w->out, m->file);
  mprof_outfile_text(w->out, "\n");
}

static void put_maps(struct mprof_legacy *w) {
  struct mprof_procfile maps;
  mprof_outfile_text(w->out, "\n");
  mprof_outfile_text(w->out, w->maps_title);
  mprof_outfile_text(w->out, "\n");
  if (mprof_procfile_read(&maps, "/proc/self/maps") != 0)
    return;
  mprof_outfile_put(w->out, maps.data, maps.len);
  mprof_procfile_free(&maps);
  for (size_t i = 0; i < w->maps.past_len; i++)
    if (w->maps.v[w->maps.len + i].has_names)
      put_unloaded(w, &w->maps.v[w->maps.len + i]);
}

int mprof_legacy_write(struct mprof_outfile *f, bool has_samples,
                       void (*put)(struct mprof_legacy *w, const void *what),
                       const void *what) {
  struct mprof_legacy *w = mprof_os_map(sizeof(*w));
  if (w == NULL)
    return mprof_outfile_fail(f, -ENOMEM);
  w->out = f;
  w->empty_stack = "";
  // Readers of the heap profile expect another title. A program that reads
  // counts or waits would mistake that title for a record.
  w->maps_title = "--- Memory map: ---";
  w->has_names =
      mprof_flags.symbolize && has_samples && mprof_symbolize_begin(true) == 0;
  if (mprof_unloads_read(&w->maps) != 0)
    w->maps = (struct mprof_maps){0}; // the text will have no mappings
  if (w->has_names && mprof_symbolize_collect(f)) {
    put(w, what);
    mprof_symbolize_look_up(f);
  }
  put(w, what);
  put_maps(w);
  mprof_maps_free(&w->maps);
  if (w->has_names)
    mprof_symbolize_end();
  mprof_os_unmap(w, sizeof(*w));
  return f->error;
}
