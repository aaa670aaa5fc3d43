// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's own profiles. Each shows by stack which values (files,
// connections, ...) the program has added and not removed. mprof/mprof.h has
// the calls that fill them. Profiles are never deleted. (Go: pprof.Profile)

#ifndef MPROF_RT_BUCKET_CUSTOM_PROFILE_H
#define MPROF_RT_BUCKET_CUSTOM_PROFILE_H

#include "bucket/bucket.h"

#define MPROF_CUSTOM_PROFILES 64u // maximum number in a process
#define MPROF_CUSTOM_NAME 64      // bytes of a name with its 0

// Returns the number of profiles. Profiles are numbered from 0. The number
// never decreases, and forked children keep it.
size_t mprof_custom_profiles(void);
// Returns the name of a profile. The string is never freed.
const char *mprof_custom_profile_name(size_t number);
// Returns the number of the profile with that name, or MPROF_CUSTOM_PROFILES if
// there is none.
size_t mprof_custom_profile_find(const char *name);

// Returns a profile's lock. It guards the values of the profile and the counts
// of its buckets, which have the type CUSTOM and mprof_custom_profile_key as
// their size.
struct mprof_lock *mprof_custom_profile_lock(size_t number);
static inline size_t mprof_custom_profile_key(size_t number) {
  return number + 1;
}

// Empties all profiles in a forked child; the profiles themselves stay.
void mprof_custom_profiles_reset(void);

// Returns the name of the profile at an address that the program passes, or
// NULL if no profile lies there.
struct mprof_profile;
const char *mprof_custom_profile_of(const struct mprof_profile *profile);

#endif // MPROF_RT_BUCKET_CUSTOM_PROFILE_H
