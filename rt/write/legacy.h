// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that the legacy texts of all profiles share: a stack after each
// record, and the counters and mappings at the end. Lines that begin with # are
// for people; programs skip them.
//
//   begin ---> (the caller writes a record; stack) ... ---> stats ---> end
//
// mprof_legacy_write makes these calls for counts and waits.
//
// Call all functions with the guard set. Only one thread may use a writer.

#ifndef MPROF_RT_WRITE_LEGACY_H
#define MPROF_RT_WRITE_LEGACY_H

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "symbolize/maps.h"

struct mprof_legacy {
  struct mprof_outfile *out;
  struct mprof_maps maps;
  mprof_pc pc;             // address to be shown; its frames are being written
  bool has_names;          // true: symbolized frames are written
  unsigned skip;           // number of functions still to be skipped
  const char *empty_stack; // name of the frame shown for an empty stack
  char command[4096];
};

// Title above the mappings that readers of counts and waits expect. These
// readers would mistake the title of the heap profile, MAPPED_LIBRARIES:, for a
// record.
#define MPROF_LEGACY_MAP_TITLE "--- Memory map: ---"

// Begins a text in f. has_samples: the text will have samples, so function
// names are needed. The caller has zeroed *w; it may have set empty_stack.
void mprof_legacy_begin(struct mprof_legacy *w, struct mprof_outfile *f,
                        bool has_samples);
// Writes the second part of a record, after the numbers and "@": the addresses
// of the stack of b, then its labels and its frames.
void mprof_legacy_stack(struct mprof_legacy *w, const struct mprof_bucket *b);
// Writes the line "# MProf ..." and the counters.
void mprof_legacy_stats(struct mprof_legacy *w);
// Writes the title maps_title and the mappings, and ends the text. maps_title:
// title that readers of this profile expect. Returns 0 or the first -errno.
int mprof_legacy_end(struct mprof_legacy *w, const char *maps_title);

// Writes a text of counts or waits to f. The function put writes the part from
// the header to the counters, using mprof_legacy_stack and mprof_legacy_stats;
// it receives `what`. empty_stack: as in struct mprof_legacy; NULL: "". Returns
// 0 or the first -errno.
int mprof_legacy_write(struct mprof_outfile *f, bool has_samples,
                       const char *empty_stack,
                       void (*put)(struct mprof_legacy *w, const void *what),
                       const void *what);

#endif // MPROF_RT_WRITE_LEGACY_H
