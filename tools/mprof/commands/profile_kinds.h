// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of files that a profiled process writes, and how mprof shows each.

#ifndef MPROF_TOOL_PROFILE_KINDS_H
#define MPROF_TOOL_PROFILE_KINDS_H

#include "commands/options.h"

struct profile_kind {
  const char *name;    // as input_kind returns it; "trace" and "stuck" are none
  const char *suffix;  // of the files
  const char *command; // shows the file
  // The command that shows files of this kind alone, or COMMAND_COUNT.
  enum command_id owner;
  // The value types of --sample, with blanks between, that ask for this kind,
  // or NULL.
  const char *types;
  // Whether the report of mprof run has the largest values, and the sentence
  // that it has instead if there are none, or NULL.
  bool is_reported;
  const char *none;
};

// In the order of the report of mprof run; the last one has no name.
extern const struct profile_kind profile_kinds[];

// Returns the kind of the file by its name, or NULL.
const struct profile_kind *profile_kind_of(const char *path);
// Returns the kind with this name, or NULL.
const struct profile_kind *profile_kind_named(const char *name);
// Returns the path of the file of another kind that the process of the file at
// `path` has written, or NULL if there is none. The caller frees it.
char *profile_kind_beside(const char *path, const struct profile_kind *kind);
// Returns whether the value type asks for the kind.
bool profile_kind_has_type(const struct profile_kind *kind, const char *type);

#endif
