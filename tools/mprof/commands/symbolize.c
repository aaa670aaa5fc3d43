// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof symbolize: adds names to profiles.

#include "commands/add_names.h"
#include "commands/directory.h"
#include "common/memory.h"
#include "files/read_profile.h"
#include "files/write_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Reads a profile. Prints a message and returns NULL if the file is none.
static struct profile *read_one(const struct options *options,
                                const char *path) {
  struct bytes bytes;
  const char *error = bytes_read(path, &bytes);
  if (error) {
    complain(options, "%s: %s", path, error);
    return NULL;
  }
  struct profile *p = profile_new();
  if (bytes_unzip(&bytes) || archive_is(&bytes) ||
      read_profile(p, &bytes, NULL)) {
    complain(options, "%s: %s", path,
             archive_is(&bytes) ? "a bundle; its profiles cannot be changed"
                                : "not a profile");
    p = NULL;
  }
  free(bytes.at);
  return p;
}

static int symbolize(const struct options *options, const char *path) {
  struct profile *p = read_one(options, path);
  if (!p)
    return STATUS_ERROR;
  const bool is_stream = strcmp(path, "-") == 0;
  if (p->is_truncated && !options->output && !is_stream)
    return complain(options,
                    "%s: the file ends too early; to write the part that can "
                    "be read, add -o DIR",
                    path);
  const size_t named = add_names(options, p, NAMES_MISSING);
  if (named == 0)
    complain(options, "%s: no names were added", path);
  else
    complain(options, "%s: added the names of %zu address%s", path, named,
             named == 1 ? "" : "es");
  if (named == 0 && !options->output && !is_stream)
    return STATUS_OK; // the file stays as it is
  char *target = options->output && !is_stream
                     ? text_of("%s/%s", options->output, basename(path))
                     : text_of("%s", path);
  const char *error = write_profile_file(p, target);
  if (error)
    complain(options, "%s: %s", target, error);
  free(target);
  return error ? STATUS_ERROR : STATUS_OK;
}

// Makes the directory for the output. Returns whether the output can be
// written.
static bool prepare(const struct options *options) {
  if (!options->output)
    return true;
  for (int i = 0; i < options->path_count; i++)
    for (int k = 0; k < i; k++)
      if (strcmp(basename(options->paths[i]), basename(options->paths[k])) ==
          0) {
        complain(options,
                 "%s and %s would have the same name in %s; run the command "
                 "for each of them",
                 options->paths[k], options->paths[i], options->output);
        return false;
      }
  struct stat s;
  if (mkdir(options->output, 0777) != 0 &&
      (stat(options->output, &s) != 0 || !S_ISDIR(s.st_mode))) {
    complain(options, "%s: %s", options->output, strerror(errno));
    return false;
  }
  return true;
}

int command_symbolize(const struct options *given) {
  static const char *const suffixes[] = {".pb.gz", NULL};
  struct options own;
  if (!directory_expand(given, suffixes, false, &own))
    return STATUS_ERROR;
  const struct options *options = &own;
  if (!add_names_check(options) || !prepare(options))
    return STATUS_ERROR;
  for (int i = 0; i < options->path_count; i++)
    if (symbolize(options, options->paths[i]) != STATUS_OK)
      return STATUS_ERROR;
  return STATUS_OK;
}
