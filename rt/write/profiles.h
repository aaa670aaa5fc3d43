// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All profiles: their table, one profile that the program or a client of the
// HTTP server (http/server.h) requests, and the copies of all profiles at the
// end of the process.

#ifndef MPROF_RT_WRITE_PROFILES_H
#define MPROF_RT_WRITE_PROFILES_H

#include "write/profile_kind.h"

// The table of profiles, generated from options/profiles.def.
extern MPROF_HIDDEN const struct mprof_profile_row
    mprof_profile_rows[MPROF_PROFILES];

// --- one profile on request ---

// Finds the profile that is called `name` and stores it in *r. Returns false if
// there is no profile with this name.
bool mprof_profile_find(struct mprof_profile_request *r, const char *name);
// Takes a copy of the profile's data in the form r->form. Returns 0, -ENOTSUP
// if the profile needs an option that is not set, or another -errno. Call with
// the recursion guard set and writer_lock held.
int mprof_profile_take(struct mprof_profile_request *r);
// Writes the copy to f. Returns 0 or -errno. Call with writer_lock held.
// mprof_write_file can call this function.
// request: a struct mprof_profile_request.
int mprof_profile_put(struct mprof_outfile *f, void *request);
// Frees the copy. Does nothing if there is none.
void mprof_profile_drop(struct mprof_profile_request *r);

// --- all profiles at the end of the process ---

// The copies of all profiles, and which profiles get a file and a section of
// the report.
struct mprof_summary {
  // The copies of all profiles. The size of a copy is copy_bytes of its kind.
  void *copies[MPROF_PROFILES];
  bool is_shown[MPROF_PROFILES];
  char *memory; // of all copies
  size_t mapped_bytes;
  int64_t time_ns; // time of the copies: nanoseconds of CLOCK_REALTIME
};

// Creates a summary with empty copies. Returns 0 or -ENOMEM. Free *s with
// mprof_summary_free even after an error.
int mprof_summary_begin(struct mprof_summary *s);
// Creates a summary and takes the copies of all profiles that the options
// enable. Returns 0 or -errno. Free *s with mprof_summary_free even after an
// error. Call with the recursion guard set and writer_lock held.
int mprof_summary_take(struct mprof_summary *s);
// Groups the copies by stack, and decides which profiles are shown. Returns 0
// or -ENOMEM. mprof_summary_take calls this function at its end. Tests call it
// directly.
int mprof_summary_group(struct mprof_summary *s);
void mprof_summary_free(struct mprof_summary *s);
// Returns whether a summary would have anything to show: an event was recorded
// or lost, or an option asks for a profile that may be empty. Makes no system
// call. Needs neither the guard nor a lock.
bool mprof_summary_has_data(void);
// Returns whether any copy has stacks that must be symbolized.
bool mprof_summary_has_stacks(const struct mprof_summary *s);

#endif // MPROF_RT_WRITE_PROFILES_H
