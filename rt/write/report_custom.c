// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the sections of the exit report about the profiles that the program
// defines (custom_profile.h). A section shows the stacks that added values to
// the profile, with the number of values that were not removed.

#include "write/report_custom.h"

#include "options/flags.h"
#include "snapshot/snapshot_custom.h"
#include "symbolize/drop_frames.h"
#include "write/report_text.h"

static void put_sample(struct mprof_report *w,
                       const struct mprof_custom_sample *s) {
  mprof_report_things(w, (int64_t)s->count, "value");
  mprof_report_put(w, "\n");
  mprof_report_stack(w, s->bucket);
  if (w->number == 0)
    mprof_report_put(w, "    " MPROF_LOST_EVENT
                        " no frame is left, because the skip count of "
                        "mprof_profile_add is too large\n");
}

void mprof_report_custom(struct mprof_report *w,
                         const struct mprof_custom_snapshot *s) {
  mprof_report_put(w, "\nProfile ");
  mprof_report_put(w, s->name);
  mprof_report_put(w, ": values added and not removed\n\nTotal:     ");
  mprof_report_things(w, (int64_t)s->values, "value");
  mprof_report_put(w, ", ");
  mprof_report_things(w, (int64_t)s->len, "stack");
  mprof_report_put(w, "\n");
  for (size_t i = 0; i < s->len && i < mprof_flags.report_top; i++) {
    mprof_report_put(w, "\n");
    mprof_report_count(w, (int64_t)i + 1, ". ");
    put_sample(w, s->sorted[i]);
  }
}

void mprof_report_custom_summary(struct mprof_report *w,
                                 const struct mprof_custom_snapshot *s) {
  mprof_report_put(w, "SUMMARY: MProf: ");
  mprof_report_put(w, s->name);
  mprof_report_put(w, ": ");
  mprof_report_plain(w, (int64_t)s->values, " values, ");
  mprof_report_plain(w, (int64_t)s->len, " stacks\n");
}
