// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles that the program defines. The program adds values (files,
// connections, ...) to a profile and removes values from it, by functions of
// mprof/mprof.h. A profile shows the stacks of the calls that added values, and
// for each stack the number of its values that are not removed yet. Profiles
// are never deleted. (Go: pprof.Profile)

#ifndef MPROF_RT_BUCKET_CUSTOM_PROFILE_H
#define MPROF_RT_BUCKET_CUSTOM_PROFILE_H

#include "bucket/bucket.h"

#define MPROF_CUSTOM_PROFILES 64u // maximum number of profiles
#define MPROF_CUSTOM_NAME 64 // maximum size of a name, with the final null byte

// Returns how many profiles exist. Profiles are numbered from 0. A forked child
// keeps the profiles.
size_t mprof_custom_profiles(void);
// Returns the name of profile `number`. The string is never freed.
const char *mprof_custom_profile_name(size_t number);
// Returns the number of the profile with the given name, or
// MPROF_CUSTOM_PROFILES if no profile has this name.
size_t mprof_custom_profile_find(const char *name);
// Returns the number of values in the profile with this number.
size_t mprof_custom_profile_values(size_t number);

// The buckets of a profile have the type CUSTOM. Their field `size` has this
// value, which tells the buckets of different profiles apart.
static inline size_t mprof_custom_profile_key(size_t number) {
  return number + 1;
}

// Removes all values from all profiles, but keeps the profiles. Call this in a
// forked child.
void mprof_custom_profiles_reset(void);

// Returns the name of the profile at the address `profile`. Returns NULL if
// this is not the address of a profile.
struct mprof_profile;
const char *mprof_custom_profile_of(const struct mprof_profile *profile);

// --- snapshots ---

// A sample is the number of values that one stack has added to the profile and
// that the program has not removed.
struct mprof_custom_sample {
  const struct mprof_bucket *bucket;
  uint64_t count; // number of values that were added and not removed
};

struct mprof_custom_snapshot {
  const char *name; // name of the profile; NULL: no snapshot was taken
  struct mprof_custom_sample *samples;
  // Pointers to the `len` samples, largest count first.
  const struct mprof_custom_sample **sorted;
  size_t len;
  size_t mapped_bytes;
  uint64_t values; // sum of the counts of all samples
  int64_t time_ns; // time of the snapshot: nanoseconds of CLOCK_REALTIME
};

// Takes a snapshot of profile `number`. Acquires the lock of this profile.
// Returns 0 or -ENOMEM. Free *s with mprof_custom_snapshot_free. Call with the
// recursion guard set.
int mprof_custom_snapshot_take(struct mprof_custom_snapshot *s, size_t number);
void mprof_custom_snapshot_free(struct mprof_custom_snapshot *s);

#endif // MPROF_RT_BUCKET_CUSTOM_PROFILE_H
