// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the legacy texts of all profiles have in common: a stack after each
// record, counters and mappings at the end. Lines with # are for people.

#ifndef MPROF_RT_WRITE_LEGACY_H
#define MPROF_RT_WRITE_LEGACY_H

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "symbolize/maps.h"

struct mprof_legacy {
  struct mprof_outfile *out;
  struct mprof_maps maps;
  mprof_pc pc;             // whose frames are being written, as it is shown
  bool has_names;          // frames are written at all
  unsigned skip;           // functions of that frame that are not to be
  const char *empty_stack; // what a stack without frames is shown as
  char command[4096];
};

// What readers of counts and waits look for before the mappings;
// MAPPED_LIBRARIES: they take for a record.
#define MPROF_LEGACY_MAP_TITLE "--- Memory map: ---"

// Opens path. has_samples: names of functions will be needed. 0 or an errno
// value, and then there is nothing to end.
void mprof_legacy_begin(struct mprof_legacy *w, struct mprof_outfile *f,
                        bool has_samples);
// A record after its numbers and "@": the addresses, then the labels and the
// frames.
void mprof_legacy_stack(struct mprof_legacy *w, const struct mprof_bucket *b);
// "# MProf ..." and the counters.
void mprof_legacy_stats(struct mprof_legacy *w);
// The mappings, below a line that the kind of profile is known to end with;
// closes the file. 0 or the first errno value.
int mprof_legacy_end(struct mprof_legacy *w, const char *maps_title);

#endif // MPROF_RT_WRITE_LEGACY_H
