// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof bundle: puts profiles and the files with their names into an archive,
// which other commands read on another machine.

#include "commands/add_names.h"
#include "commands/directory.h"
#include "common/memory.h"
#include "common/plural.h"
#include "files/read_profile.h"

#include <stdlib.h>
#include <string.h>

struct bundle {
  const struct options *options;
  struct archive_writer *archive;
  unsigned files, missing;
  const char *error;
};

static void add_file(void *arg, const char *path, const char *name) {
  struct bundle *b = arg;
  if (b->error)
    return;
  if (strcmp(name, "files/") == 0 || strncmp(name, "files/.", 7) == 0) {
    complain(b->options,
             "%s has no build id, so it is not in the bundle; link "
             "it with -Wl,--build-id",
             path);
    b->missing++;
    return;
  }
  const char *error = archive_add_file(b->archive, name, path);
  if (error)
    complain(b->options, "%s: %s; it is not in the bundle", path, error);
  if (error)
    b->missing++;
  else
    b->files++;
}

static void count_missing(void *arg, const char *text) {
  struct bundle *b = arg;
  complain(b->options, "%s", text);
  b->missing++;
}

// Returns the name of a member for the profile. It has no characters with a
// meaning for other programs.
static char *member_name(const char *path, int number) {
  char *name = text_of("profiles/%d-%.60s", number, basename(path));
  for (char *c = strchr(name, '/') + 1; *c; c++)
    if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                "0123456789._-",
                *c))
      *c = '_';
  return name;
}

// Adds a profile as it is, and the files that it needs.
static int add_profile(struct bundle *b, int number) {
  const char *path = b->options->paths[number];
  struct bytes bytes;
  const char *error = bytes_read(path, &bytes);
  if (error)
    return complain(b->options, "%s: %s", path, error);
  char *name = member_name(path, number + 1);
  error = archive_add(b->archive, name, &bytes);
  free(name);
  if (!error)
    error = bytes_unzip(&bytes);
  struct profile *p = profile_new();
  if (!error)
    error = read_profile(p, &bytes, NULL);
  free(bytes.at);
  if (error)
    return complain(b->options, "%s: %s", path, error);
  const struct names_request request = {.places = add_names_places(b->options),
                                        .mode = NAMES_FILES,
                                        .warn = count_missing,
                                        .used = add_file,
                                        .arg = b};
  names_find(p, &request);
  return STATUS_OK;
}

int command_bundle(const struct options *given) {
  static const char *const suffixes[] = {".pb.gz", NULL};
  struct options own;
  const char *path = given->output, *error;
  if (!path)
    return complain(given, "to name the archive, add -o FILE");
  if (!directory_expand(given, suffixes, false, &own))
    return STATUS_ERROR;
  const struct options *options = &own;
  if (!add_names_check(options))
    return STATUS_ERROR;
  struct bundle b = {.options = options,
                     .archive = archive_begin(path, &error)};
  if (!b.archive)
    return complain(options, "%s: %s", path, error);
  int status = STATUS_OK;
  for (int i = 0; i < options->path_count && status == STATUS_OK; i++)
    status = add_profile(&b, i);
  if (status != STATUS_OK) {
    archive_abandon(b.archive);
    return status;
  }
  error = archive_end(b.archive);
  if (error)
    return complain(options, "%s: %s", path, error);
  fprintf(stderr, "mprof bundle: %d profile%s and %u file%s",
          options->path_count, plural((uint64_t)options->path_count), b.files,
          plural(b.files));
  if (b.missing)
    fprintf(stderr, "; %u file%s %s missing", b.missing, plural(b.missing),
            is_or_are(b.missing));
  fputc('\n', stderr);
  return STATUS_OK;
}
