// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof merge: adds up profiles.

#include "commands/input.h"
#include "commands/options.h"
#include "files/write_profile.h"

#include <unistd.h>

int command_merge(const struct options *options) {
  const char *path = options->output ? options->output : "-";
  if (!options->output && isatty(STDOUT_FILENO))
    return complain(options, "a profile is no text; to name a file, use -o");
  struct profile *p = input_read(options, options->paths, options->path_count);
  if (!p)
    return STATUS_ERROR;
  // The other losses are comments of the profile.
  if (p->is_truncated)
    complain(options, "a file ends too early, so samples or names are missing");
  const char *error = write_profile_file(p, path);
  return error ? complain(options, "%s: %s", path, error) : STATUS_OK;
}
