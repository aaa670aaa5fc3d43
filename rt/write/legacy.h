// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that the legacy texts of all profiles share. (The legacy text is
// the format of pprof before profile.proto.) Each record has a stack, and the
// text ends with statistics and mappings. Lines that begin with # are for
// people; programs skip these lines.

#ifndef MPROF_RT_WRITE_LEGACY_H
#define MPROF_RT_WRITE_LEGACY_H

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "symbolize/maps.h"

struct mprof_legacy {
  struct mprof_outfile *out;
  // Name of the frame shown for an empty stack; "" unless the caller sets it.
  const char *empty_stack;
  // Title of the list of mappings. The caller may set it.
  const char *maps_title;
  struct mprof_maps maps;
  mprof_pc pc;    // address whose frames are being written
  bool has_names; // true: the text has function names
  unsigned skip;  // number of functions that are still to be omitted
  char command[4096];
};

// Writes a text to f. Calls put(w, what), which writes the text from the header
// to the statistics. If names are needed, it is called twice: the first time
// only to collect the addresses, without writing. For each record, put writes
// the record's numbers and "@", and calls mprof_legacy_stack. Then it calls
// mprof_legacy_stats. Returns 0 or the first -errno of the file. Call with the
// recursion guard set. has_samples: true: the text will have samples, so
// function names are needed.
int mprof_legacy_write(struct mprof_outfile *f, bool has_samples,
                       void (*put)(struct mprof_legacy *w, const void *what),
                       const void *what);
// Writes the four numbers of a record of blocks, such as "1: 10 [2: 20] @":
// objects and bytes in use, objects and bytes allocated.
void mprof_legacy_blocks(struct mprof_outfile *f, const uint64_t counts[4]);
// Writes the first line of a profile of counts.
void mprof_legacy_total(struct mprof_legacy *w, const char *name,
                        uint64_t total);
// Writes a record of a profile of counts.
void mprof_legacy_count(struct mprof_legacy *w, uint64_t count,
                        const struct mprof_bucket *b);
// Writes the second part of a record: the addresses of the stack of b, then its
// labels and its frames.
void mprof_legacy_stack(struct mprof_legacy *w, const struct mprof_bucket *b);
// Writes the line "# MProf ...", the command, and the statistics.
void mprof_legacy_stats(struct mprof_legacy *w);

#endif // MPROF_RT_WRITE_LEGACY_H
