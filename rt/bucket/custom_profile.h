// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's own profiles: what it has opened and not closed, by where. The
// calls that fill them are in mprof/mprof.h. (Go: pprof.Profile)

#ifndef MPROF_RT_BUCKET_CUSTOM_PROFILE_H
#define MPROF_RT_BUCKET_CUSTOM_PROFILE_H

#include "bucket/bucket.h"

#define MPROF_CUSTOM_PROFILES 64u // in a process
#define MPROF_CUSTOM_NAME 64      // with its 0

// How many there are; their numbers are 0 to that. It only grows, over forks.
size_t mprof_custom_profiles(void);
// The name of one, which stays where it is.
const char *mprof_custom_profile_name(size_t number);
// The number of the one with that name, MPROF_CUSTOM_PROFILES if none has it.
size_t mprof_custom_profile_find(const char *name);

// Guards the values of a profile and the counts of its buckets, those of type
// CUSTOM with mprof_custom_profile_key as their size.
struct mprof_lock *mprof_custom_profile_lock(size_t number);
static inline size_t mprof_custom_profile_key(size_t number) {
  return number + 1;
}

// In a forked child: the profiles are there, and empty.
void mprof_custom_profiles_reset(void);

// Returns the name of a profile that the program has a pointer to; NULL if it
// is none.
struct mprof_profile;
const char *mprof_custom_profile_of(const struct mprof_profile *profile);

#endif // MPROF_RT_BUCKET_CUSTOM_PROFILE_H
