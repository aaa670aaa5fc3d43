// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the names of the locations of a profile.

#ifndef MPROF_TOOL_NAMES_H
#define MPROF_TOOL_NAMES_H

#include "model/profile.h"
#include "names/places.h"

enum names_mode {
  NAMES_MISSING, // for all locations without names
  // Only for mappings in which nobody has looked for names yet.
  NAMES_AUTOMATIC,
  // As NAMES_MISSING, but address - mapping.start is an address in the ELF file
  // instead of an offset.
  NAMES_AT_ADDRESSES,
  // Only finds the files that have the names of all locations.
  NAMES_FILES
};

struct names_request {
  struct places places;
  enum names_mode mode;
  // Called with a text of one line about a file whose names are not found.
  void (*warn)(void *arg, const char *text);
  // Called for each file with names, if not NULL.
  void (*used)(void *arg, const char *path, const char *name);
  void *arg;
};

// Adds names to the profile. Returns the number of locations that have got
// names.
size_t names_find(struct profile *p, const struct names_request *request);
// Returns whether names_find would look for names.
bool names_are_wanted(const struct profile *p, enum names_mode mode);

#endif
