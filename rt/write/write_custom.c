// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the program's own profiles, in both formats: the values that were
// added and not removed, by the stack that added them. (Go: printCountProfile)

#include "write/write_custom.h"

#include "file/outfile.h"
#include "snapshot/snapshot_custom.h"
#include "symbolize/drop_frames.h"
#include "sys/os_linux.h"
#include "write/legacy.h"
#include "write/pprof.h"

#include <errno.h>

int mprof_write_custom_pprof(struct mprof_outfile *f,
                             const struct mprof_custom_snapshot *s) {
  const struct mprof_pprof_head head = {.types = {{s->name, "count"}},
                                        .types_len = 1,
                                        .period_type = {s->name, "count"},
                                        .period = 1,
                                        .time_ns = s->time_ns,
                                        .empty_stack = MPROF_LOST_EVENT};
  struct mprof_pprof *w;
  int error = mprof_pprof_begin(&w, f, &head, s->len > 0);
  if (error != 0)
    return error;
  for (size_t i = 0; i < s->len && !mprof_pprof_has_failed(w); i++) {
    const int64_t count = (int64_t)s->sorted[i]->count;
    mprof_pprof_sample(w, s->sorted[i]->bucket, &count, NULL, 0);
  }
  return mprof_pprof_end(w);
}

static void put_all(struct mprof_legacy *w,
                    const struct mprof_custom_snapshot *s) {
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
  struct mprof_legacy *w = mprof_os_map(sizeof(*w));
  if (w == NULL)
    return mprof_outfile_fail(f, ENOMEM);
  w->empty_stack = MPROF_LOST_EVENT;
  mprof_legacy_begin(w, f, s->len > 0);
  put_all(w, s);
  int error = mprof_legacy_end(w, MPROF_LEGACY_MAP_TITLE);
  mprof_os_unmap(w, sizeof(*w));
  return error;
}
