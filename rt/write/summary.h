// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copies of all profiles at the end of the process. Decides which profiles
// get a file and a section of the report.

#ifndef MPROF_RT_WRITE_SUMMARY_H
#define MPROF_RT_WRITE_SUMMARY_H

#include "write/profile_kind.h"

struct mprof_summary {
  void *copies[MPROF_PROFILES]; // copy_bytes of each kind; all in one mapping
  bool is_shown[MPROF_PROFILES];
  size_t mapped_bytes;
  int64_t time_ns; // CLOCK_REALTIME
};

// Creates a summary whose copies are empty. Returns 0 or -ENOMEM. In either
// case, free *s with mprof_summary_free.
int mprof_summary_begin(struct mprof_summary *s);
// Creates a summary and takes all copies that the options enable. Returns 0 or
// -errno. In either case, free *s with mprof_summary_free. Call with the guard
// set and writer_lock held.
int mprof_summary_take(struct mprof_summary *s);
// Groups the copies by stack and decides which profiles are shown.
// mprof_summary_take calls this function at its end; tests call it directly.
// Returns 0 or -ENOMEM.
int mprof_summary_group(struct mprof_summary *s);
void mprof_summary_free(struct mprof_summary *s);
// Returns whether any copy has stacks that need to be symbolized.
bool mprof_summary_has_stacks(const struct mprof_summary *s);

#endif // MPROF_RT_WRITE_SUMMARY_H
