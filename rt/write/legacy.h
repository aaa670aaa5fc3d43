// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that the legacy texts of all profiles have in common: a stack after
// each record, and the counters and mappings at the end. Readers skip the lines
// that begin with #, which are for people.
//
//   begin ---> (the caller writes a record; stack) ... ---> stats ---> end
//
// mprof_legacy_write does this for counts and waits.
//
// Call with the guard set. Only one thread may use a writer.

#ifndef MPROF_RT_WRITE_LEGACY_H
#define MPROF_RT_WRITE_LEGACY_H

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "symbolize/maps.h"

struct mprof_legacy {
  struct mprof_outfile *out;
  struct mprof_maps maps;
  mprof_pc pc;             // address whose frames are being written, as shown
  bool has_names;          // frames are written
  unsigned skip;           // number of functions left to skip at this address
  const char *empty_stack; // name of the frame that stands for an empty stack
  char command[4096];
};

// Title that readers of counts and waits expect before the mappings. They would
// take the heap profile's title, MAPPED_LIBRARIES:, for a record.
#define MPROF_LEGACY_MAP_TITLE "--- Memory map: ---"

// Begins a text in f. has_samples: there will be samples, so the names of
// functions are needed. w holds zeros, or empty_stack alone.
void mprof_legacy_begin(struct mprof_legacy *w, struct mprof_outfile *f,
                        bool has_samples);
// Writes the end of a record, after its numbers and "@": the addresses of the
// stack of b, then the labels and the frames.
void mprof_legacy_stack(struct mprof_legacy *w, const struct mprof_bucket *b);
// Writes the line "# MProf ..." and the counters.
void mprof_legacy_stats(struct mprof_legacy *w);
// Writes the mappings, below the line maps_title, and ends the text.
// maps_title: the title that readers of this kind of profile expect. Returns 0
// or the first -errno.
int mprof_legacy_end(struct mprof_legacy *w, const char *maps_title);

// Writes a text of counts or waits to f. put writes `what` from the header to
// the counters, with mprof_legacy_stack and mprof_legacy_stats. empty_stack:
// as in struct mprof_legacy; NULL: "". Returns 0 or the first -errno.
int mprof_legacy_write(struct mprof_outfile *f, bool has_samples,
                       const char *empty_stack,
                       void (*put)(struct mprof_legacy *w, const void *what),
                       const void *what);

#endif // MPROF_RT_WRITE_LEGACY_H
