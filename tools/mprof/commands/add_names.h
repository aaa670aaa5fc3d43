// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds names with the options of a command, and prints what is missing.

#ifndef MPROF_TOOL_ADD_NAMES_H
#define MPROF_TOOL_ADD_NAMES_H

#include "commands/options.h"
#include "files/archive.h"
#include "names/names.h"

// Prints a message for each option about names that is wrong. Returns whether
// all are right.
bool add_names_check(const struct options *options);

// Adds names to the profile; see names_find. bundle is the archive from which
// the profile comes, or NULL. Prints a line for each file whose names are not
// found, but does not print a line twice.
size_t add_names(const struct options *options, struct profile *p,
                 const struct archive *bundle, enum names_mode mode);

// Reads a profile or a bundle, and adds it to p. In a bundle, it finds the
// names of all its profiles. Returns NULL or a message without the path.
const char *add_names_read(const struct options *options, struct profile *p,
                           const char *path);

// Returns where to look for files.
struct places add_names_places(const struct options *options,
                               const struct archive *bundle);

#endif
