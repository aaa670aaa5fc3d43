// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the profiles that the program defines (custom_profile.h), as
// profile.proto or as legacy text. A sample has the stack of the calls that
// added some values to the profile, and the number of these values that were
// not removed. (Go: printCountProfile)

#include "write/write_custom.h"

#include "file/outfile.h"
#include "snapshot/snapshot_custom.h"
#include "symbolize/drop_frames.h"
#include "write/legacy.h"
#include "write/pprof.h"

static void put_sample(struct mprof_pprof *w, const void *snapshot, size_t i,
                       const uint64_t *keys) {
  (void)keys;
  const struct mprof_custom_sample *x =
      ((const struct mprof_custom_snapshot *)snapshot)->sorted[i];
  const int64_t count = (int64_t)x->count;
  mprof_pprof_sample(w, x->bucket, &count, NULL, 0);
}

int mprof_write_custom_pprof(struct mprof_outfile *f,
                             const struct mprof_custom_snapshot *s) {
  const struct mprof_pprof_head head = {.types = {{s->name, "count"}},
                                        .types_len = 1,
                                        .period_type = {s->name, "count"},
                                        .period = 1,
                                        .time_ns = s->time_ns,
                                        .empty_stack = MPROF_LOST_EVENT};
  return mprof_pprof_write(
      f, &head, &(struct mprof_pprof_samples){s, s->len, {NULL}, put_sample});
}

static void put_all(struct mprof_legacy *w, const void *snapshot) {
  const struct mprof_custom_snapshot *s = snapshot;
  mprof_outfile_text(w->out, s->name);
  mprof_outfile_text(w->out, " profile: total ");
  mprof_outfile_dec(w->out, s->values);
  mprof_outfile_text(w->out, "\n");
  for (size_t i = 0; i < s->len && w->out->error == 0; i++) {
    mprof_outfile_dec(w->out, s->sorted[i]->count);
    mprof_outfile_text(w->out, " @");
    mprof_legacy_stack(w, s->sorted[i]->bucket);
  }
  mprof_legacy_stats(w);
}

int mprof_write_custom_text(struct mprof_outfile *f,
                            const struct mprof_custom_snapshot *s) {
  return mprof_legacy_write(f, s->len > 0, MPROF_LOST_EVENT, put_all, s);
}
