// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles that the program defines. The program adds values (files,
// connections, ...) to a profile and removes them, by functions of
// mprof/mprof.h. A profile counts the values that are not removed yet, by the
// stacks that added them. Profiles are never deleted. (Go: pprof.Profile)

#ifndef MPROF_RT_BUCKET_CUSTOM_PROFILE_H
#define MPROF_RT_BUCKET_CUSTOM_PROFILE_H

#include "bucket/bucket.h"

#define MPROF_CUSTOM_PROFILES 64u // maximum number in a process
#define MPROF_CUSTOM_NAME 64      // maximum bytes of a name, with the final 0

// Returns how many profiles exist. Profiles are numbered from 0. A forked child
// keeps the profiles.
size_t mprof_custom_profiles(void);
// Returns the name of profile `number`. The string is never freed.
const char *mprof_custom_profile_name(size_t number);
// Returns the number of the profile with that name, or MPROF_CUSTOM_PROFILES if
// there is none.
size_t mprof_custom_profile_find(const char *name);

// Returns the lock of profile `number`. The lock guards the profile's values
// and the counters of its buckets. The buckets of a profile have the type
// CUSTOM, and their size is the profile's mprof_custom_profile_key.
struct mprof_lock *mprof_custom_profile_lock(size_t number);
static inline size_t mprof_custom_profile_key(size_t number) {
  return number + 1;
}

// Removes all values from all profiles in a forked child. The profiles stay.
void mprof_custom_profiles_reset(void);

// Returns the name of the profile that the program's pointer points to, or NULL
// if the pointer is not a profile's address.
struct mprof_profile;
const char *mprof_custom_profile_of(const struct mprof_profile *profile);

#endif // MPROF_RT_BUCKET_CUSTOM_PROFILE_H
