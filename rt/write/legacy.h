// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that the legacy texts of all profiles share. (The legacy text is
// the format of pprof before profile.proto.) Each record has a stack, and the
// text ends with statistics and mappings. Lines that begin with # are for
// people; programs skip these lines. The calls are:
//
//   begin ---> (the caller writes a record; stack) ... ---> stats ---> end
//
// mprof_legacy_write makes these calls for profiles of counts and of waits.
//
// Call all functions with the recursion guard set. Only one thread may use a
// struct mprof_legacy.

#ifndef MPROF_RT_WRITE_LEGACY_H
#define MPROF_RT_WRITE_LEGACY_H

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "symbolize/maps.h"

struct mprof_legacy {
  struct mprof_outfile *out;
  struct mprof_maps maps;
  mprof_pc pc;             // address whose frames are being written
  bool has_names;          // true: the text has function names
  unsigned skip;           // number of functions that are still to be omitted
  const char *empty_stack; // name of the frame shown for an empty stack
  char command[4096];
};

// Title of the list of mappings in texts of counts and of waits. The title in
// texts of the heap profile is MAPPED_LIBRARIES:, but a program that reads
// counts or waits would mistake that title for a record.
#define MPROF_LEGACY_MAP_TITLE "--- Memory map: ---"

// Begins a text in f. The caller has zeroed *w, and may have set
// w->empty_stack.
// has_samples: true: the text will have samples, so function names are needed.
void mprof_legacy_begin(struct mprof_legacy *w, struct mprof_outfile *f,
                        bool has_samples);
// Writes the second part of a record: the addresses of the stack of b, then its
// labels and its frames. The caller has written the first part, which has the
// record's numbers and "@".
void mprof_legacy_stack(struct mprof_legacy *w, const struct mprof_bucket *b);
// Writes the line "# MProf ...", the command, and the statistics.
void mprof_legacy_stats(struct mprof_legacy *w);
// Writes the mappings, and ends the text. Returns 0 or the first -errno of the
// file.
// maps_title: title of the list of mappings. Readers of each profile expect a
//   certain title.
int mprof_legacy_end(struct mprof_legacy *w, const char *maps_title);

// Writes a text of counts or of waits to f. Calls put(w, what), which must
// write the text from the header to the statistics, by mprof_legacy_stack and
// mprof_legacy_stats. Returns 0 or the first -errno of the file.
// empty_stack: name of the frame shown for an empty stack; NULL: "".
int mprof_legacy_write(struct mprof_outfile *f, bool has_samples,
                       const char *empty_stack,
                       void (*put)(struct mprof_legacy *w, const void *what),
                       const void *what);

#endif // MPROF_RT_WRITE_LEGACY_H
