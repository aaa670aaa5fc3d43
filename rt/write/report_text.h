// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the sections of the report share: numbers for people, and stacks.

#ifndef MPROF_RT_WRITE_REPORT_TEXT_H
#define MPROF_RT_WRITE_REPORT_TEXT_H

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "snapshot/group_by_stack.h"

// In memory from mprof_os_map.
struct mprof_report {
  struct mprof_outfile *out;
  // Of the stack that is being written:
  const struct mprof_bucket *bucket;
  uint32_t index;  // of its return address
  unsigned number; // of the next frame
  unsigned skip;   // frames left to skip
  bool is_main;    // main was met; what called it is no news
  char command[4096];
};

void mprof_report_put(struct mprof_report *w, const char *s);
// "1,234", then what.
void mprof_report_count(struct mprof_report *w, int64_t n, const char *what);
// "1,234 waits", "1 wait"
void mprof_report_things(struct mprof_report *w, int64_t n, const char *thing);
// "1.50 MiB (1,572,864 bytes)"
void mprof_report_bytes(struct mprof_report *w, int64_t bytes);
void mprof_report_percent(struct mprof_report *w, int64_t part, int64_t whole);
// "1.50 ms"
void mprof_report_time(struct mprof_report *w, int64_t ns);
// A number for scripts, then what.
void mprof_report_plain(struct mprof_report *w, int64_t n, const char *what);
// "    labels {"key":"value"}": whose a stack's samples are; nothing without
// labels.
void mprof_report_labels(struct mprof_report *w,
                         const struct mprof_stack_labels *labels);
// A line for each frame.
void mprof_report_stack(struct mprof_report *w, const struct mprof_bucket *b);

#endif // MPROF_RT_WRITE_REPORT_TEXT_H
