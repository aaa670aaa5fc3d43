// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that the sections of the exit report share: the state of the
// report, and functions that write numbers and stacks for people. The
// report_*.c files write the sections, and write_report.c calls them in order.
// The file `out` remembers errors.

#ifndef MPROF_RT_WRITE_REPORT_TEXT_H
#define MPROF_RT_WRITE_REPORT_TEXT_H

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "snapshot/group_by_stack.h"

// A report that is being written. It is too large for a stack, so mprof_os_map
// provides its memory.
struct mprof_report {
  struct mprof_outfile *out;
  // The position in the stack that is being written:
  const struct mprof_bucket *bucket;
  uint32_t index;  // index of the return address
  unsigned number; // number of the next frame
  unsigned skip;   // number of frames still to be skipped
  bool is_main;    // main was written; its callers are omitted
  char command[4096];
};

// Writes string s.
void mprof_report_put(struct mprof_report *w, const char *s);
// Writes a count as "1,234", then the text `what`.
void mprof_report_count(struct mprof_report *w, int64_t n, const char *what);
// Writes a count and a noun as "1,234 waits" or "1 wait".
void mprof_report_things(struct mprof_report *w, int64_t n, const char *thing);
// Writes a size as "1.50 MiB (1,572,864 bytes)".
void mprof_report_bytes(struct mprof_report *w, int64_t bytes);
// Writes part / whole in percent.
void mprof_report_percent(struct mprof_report *w, int64_t part, int64_t whole);
// Writes a time as "1.50 ms".
void mprof_report_time(struct mprof_report *w, int64_t ns);
// Writes a number without commas, for machine-readable lines, then the text
// `what`.
void mprof_report_plain(struct mprof_report *w, int64_t n, const char *what);
// Writes the labels of a stack's samples as `    labels {"key":"value"}`;
// writes nothing if no sample has labels.
void mprof_report_labels(struct mprof_report *w,
                         const struct mprof_stack_labels *labels);
// Writes the stack of b, one line for each frame.
void mprof_report_stack(struct mprof_report *w, const struct mprof_bucket *b);

#endif // MPROF_RT_WRITE_REPORT_TEXT_H
