// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the heapx profile as legacy text. No legacy format has as many columns
// as this profile. Therefore each record has only one value, the number of
// temporary blocks. A comment line before it has all values, for people. The
// values are already scaled, because readers do not scale profiles of counts.
// (Go: printCountProfile)

#include "write/write_text_heapx.h"

#include "file/outfile.h"
#include "snapshot/group_by_stack.h"
#include "sys/sort.h"
#include "write/legacy.h"

static bool has_more_temporary(const void *a, const void *b) {
  const struct mprof_heapx_sum *x = a, *y = b;
  return x->sum.temporary_objects > y->sum.temporary_objects;
}

static void put_value(struct mprof_outfile *f, const char *name, int64_t n) {
  mprof_outfile_text(f, name);
  mprof_outfile_dec(f, (uint64_t)n);
}

static void put_stack(struct mprof_legacy *w, const struct mprof_heapx_sum *s) {
  struct mprof_outfile *f = w->out;
  put_value(f, "# temporary_objects=", s->sum.temporary_objects);
  put_value(f, " temporary_space=", s->sum.temporary_bytes);
  put_value(f, " in_place=", s->sum.in_place);
  put_value(f, " moved=", s->sum.moved);
  put_value(f, " copied_space=", s->sum.copied_bytes);
  put_value(f, " alloc_slack_space=", s->sum.alloc_slack_bytes);
  put_value(f, " slack_space=", s->sum.inuse_slack_bytes);
  put_value(f, "\n", s->sum.temporary_objects);
  mprof_outfile_text(f, " @");
  mprof_legacy_stack(w, s->bucket);
}

static void put_all(struct mprof_legacy *w, const void *groups) {
  const struct mprof_heapx_groups *g = groups;
  put_value(w->out, "heapx profile: total ", g->total.temporary_objects);
  mprof_outfile_text(w->out, "\n");
  for (size_t i = 0; i < g->len && w->out->error == 0; i++)
    put_stack(w, g->sorted[i]);
  mprof_legacy_stats(w);
}

int mprof_write_heapx_text(struct mprof_outfile *f,
                           const struct mprof_heapx_groups *g) {
  mprof_sort((void **)g->sorted, g->len, has_more_temporary);
  return mprof_legacy_write(f, g->len > 0, NULL, put_all, g);
}
