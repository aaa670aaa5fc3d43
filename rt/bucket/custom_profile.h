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

// Returns the lock of profile `number`. The lock guards the profile's values
// and the counters of the profile's buckets. These buckets have the type
// CUSTOM. Their field `size` has the value mprof_custom_profile_key(number),
// which tells the buckets of different profiles apart.
struct mprof_lock *mprof_custom_profile_lock(size_t number);
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

#endif // MPROF_RT_BUCKET_CUSTOM_PROFILE_H
