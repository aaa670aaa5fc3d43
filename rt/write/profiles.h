// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of profile kinds, made of sys/profiles.def.

#ifndef MPROF_RT_WRITE_PROFILES_H
#define MPROF_RT_WRITE_PROFILES_H

#include "write/profile_kind.h"

extern const struct mprof_profile_row mprof_profile_rows[MPROF_PROFILES];

// Returns the row of a profile that MProf has itself, or NULL if none has the
// name.
const struct mprof_profile_row *mprof_profile_row_of(const char *name);

#endif // MPROF_RT_WRITE_PROFILES_H
