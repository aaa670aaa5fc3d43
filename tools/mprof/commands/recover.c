// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof recover: makes profiles of the file that a killed process has left
// (option persist).

#include "commands/add_names.h"
#include "common/memory.h"
#include "common/plural.h"
#include "files/file_kind.h"
#include "files/read_persist.h"
#include "files/write_profile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Returns whether the process still has the file mapped.
static bool still_runs(const struct persist *p, const char *path) {
  char *maps = text_of("/proc/%d/maps", p->pid);
  char *real = realpath(path, NULL), line[4096 + 256];
  FILE *f = real ? fopen(maps, "re") : NULL;
  bool found = false;
  while (f && !found && fgets(line, sizeof line, f)) {
    const size_t length = strcspn(line, "\n"), wanted = strlen(real);
    found =
        length >= wanted && memcmp(line + length - wanted, real, wanted) == 0;
  }
  if (f)
    fclose(f);
  free(real);
  free(maps);
  return found;
}

static int write_one(const struct options *options, const char *base,
                     const struct recovered *r) {
  struct profile *p = r->profile;
  add_names(options, p, NAMES_MISSING);
  char *path = text_of("%s.%s.pb.gz", base, r->name);
  const char *error = write_profile_file(p, path);
  if (error)
    complain(options, "%s: %s", path, error);
  else
    printf("%s: %zu sample%s\n", path, p->sample_count,
           plural(p->sample_count));
  free(path);
  return error ? STATUS_ERROR : STATUS_OK;
}

// Says what the profiles lack.
static void say_losses(const struct options *options, const char *path,
                       const struct persist *p) {
  if (still_runs(p, path))
    complain(options,
             "%s: process %d still runs; the profiles show it as it is now",
             path, p->pid);
  if (p->is_cut)
    complain(options,
             "%s: the file could not grow, so what the process recorded "
             "afterwards is missing",
             path);
  else if (p->is_damaged)
    complain(options, "%s: the file is damaged, so a part is missing", path);
}

static int recover(const struct options *options, const char *path) {
  struct bytes bytes;
  const char *error = bytes_read(path, &bytes);
  if (error)
    return complain(options, "%s: %s", path, error);
  struct persist persist = {0};
  const char *kind = persist_is(&bytes) ? NULL : file_kind(&bytes);
  if (!kind)
    error = persist_read(&bytes, &persist);
  int status = STATUS_OK;
  if (kind || error)
    status = complain(options, "%s: %s", path, kind ? kind : error);
  else
    say_losses(options, path, &persist);
  const char *base = options->output ? options->output : path;
  for (size_t i = 0; i < persist.count; i++)
    if (write_one(options, base, &persist.profiles[i]) != STATUS_OK)
      status = STATUS_ERROR;
  persist_free(&persist);
  free(bytes.at);
  return status;
}

int command_recover(const struct options *options) {
  if (!add_names_check(options))
    return STATUS_ERROR;
  if (options->output && options->path_count > 1)
    return complain(options, "-o is for one file; give one file");
  for (int i = 0; i < options->path_count; i++)
    if (recover(options, options->paths[i]) != STATUS_OK)
      return STATUS_ERROR;
  return STATUS_OK;
}
