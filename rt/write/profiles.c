// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of profiles, generated from options/profiles.def. See profiles.h.

#include "write/profiles.h"

#include "write/profile_kind.h"

#include <string.h>

const struct mprof_profile_row mprof_profile_rows[MPROF_PROFILES] = {
#define MPROF_PROFILE(Name, Suffix, Kind, Variant, Section, Line, Text)        \
  {#Name, Suffix, &mprof_kind_##Kind, Variant, Section, Line, Text},
#define MPROF_PROFILE_OF_PROGRAM(Name, Suffix, Kind, Variant, Section, Line,   \
                                 Text)                                         \
  {NULL, Suffix, &mprof_kind_##Kind, Variant, Section, Line, Text},
#include "options/profiles.def"
};

const struct mprof_profile_row *mprof_profile_row_of(const char *name) {
  for (size_t i = 0; i < MPROF_PROFILES; i++)
    if (mprof_profile_rows[i].name != NULL &&
        strcmp(mprof_profile_rows[i].name, name) == 0)
      return &mprof_profile_rows[i];
  return NULL;
}
