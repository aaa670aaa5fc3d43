// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of profiles, generated from options/profiles.def.

#ifndef MPROF_RT_WRITE_PROFILES_H
#define MPROF_RT_WRITE_PROFILES_H

#include "write/profile_kind.h"

extern MPROF_HIDDEN const struct mprof_profile_row
    mprof_profile_rows[MPROF_PROFILES];

// Returns the row of the built-in profile with this name. Returns NULL if no
// profile has this name.
const struct mprof_profile_row *mprof_profile_row_of(const char *name);

#endif // MPROF_RT_WRITE_PROFILES_H
