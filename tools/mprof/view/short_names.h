// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The short names of the functions of profiles. Each function is shown with the
// shortest form of its name that no other function has: without template
// arguments and parameters, with the template arguments, or the whole name. So
// the values of two functions with different names are never added up because
// the short forms look alike. Functions with one name in the profile are one
// row: the names of Rust functions in the older mangling have lost their hash,
// so the instances of a generic function are added up.

#ifndef MPROF_TOOL_SHORT_NAMES_H
#define MPROF_TOOL_SHORT_NAMES_H

#include "model/profile.h"

struct short_names;

// Makes the short names of all functions of the profiles. Views of profiles
// that are shown side by side need the same names.
struct short_names *short_names_new(const struct profile *const *profiles,
                                    size_t count);
void short_names_free(struct short_names *n);

// Return names of a function of the profiles, which are valid until
// short_names_free. full: the function's name in the profile.
const char *short_names_unique(struct short_names *n, const char *full);
// The shortest form, which several functions may have. Patterns such as
// drop_frames are made for it.
const char *short_names_plain(struct short_names *n, const char *full);
// The name as in the source text. shown: a name from short_names_unique. Other
// texts are returned as they are.
const char *short_names_whole(struct short_names *n, const char *shown);

#endif
