// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of all kinds of profiles at the end of the process, and which of them
// are worth a file and a section of the report.

#ifndef MPROF_RT_WRITE_SUMMARY_H
#define MPROF_RT_WRITE_SUMMARY_H

#include "write/profile_kind.h"

struct mprof_summary {
  void *copies[MPROF_PROFILES]; // each of its kind's copy_bytes; in one mapping
  bool is_shown[MPROF_PROFILES];
  size_t mapped_bytes;
  int64_t time_ns; // CLOCK_REALTIME
};

// Makes a summary whose copies are empty. Returns 0 or -ENOMEM. Free *s with
// mprof_summary_free in either case.
int mprof_summary_begin(struct mprof_summary *s);
// Makes a summary and takes all copies that the options ask for. Returns 0 or
// -ENOMEM. Free *s with mprof_summary_free in either case. Call with the guard
// set and writer_lock held.
int mprof_summary_take(struct mprof_summary *s);
// Groups the copies by stack and decides which profiles are shown. It is the
// second half of mprof_summary_take, which tests call by itself. Returns 0 or
// -ENOMEM.
int mprof_summary_group(struct mprof_summary *s);
void mprof_summary_free(struct mprof_summary *s);
// Returns whether there are stacks whose names are worth asking for.
bool mprof_summary_has_stacks(const struct mprof_summary *s);

#endif // MPROF_RT_WRITE_SUMMARY_H
