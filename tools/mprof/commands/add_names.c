// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/add_names.h"

#include "common/memory.h"
#include "files/read_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool check_path(const struct options *options, const char *name,
                       const char *path) {
  if (access(path, R_OK) != 0)
    complain(options, "--%s=%s: %s", name, path, strerror(errno));
  else if (strchr(path, ':'))
    complain(options, "--%s=%s: the path must not contain a colon", name, path);
  else
    return true;
  return false;
}

bool add_names_check(const struct options *options) {
  bool is_right = true;
  if (options->sysroot)
    is_right = check_path(options, "sysroot", options->sysroot);
  for (size_t i = 0; i < options->debug_dirs.count; i++)
    is_right &= check_path(options, "debug-dir", options->debug_dirs.items[i]);
  for (size_t i = 0; i < options->binaries.count; i++)
    is_right &= check_path(options, "binary", options->binaries.items[i]);
  const char *servers = getenv("DEBUGINFOD_URLS");
  if (options->debuginfod && (!servers || !*servers)) {
    complain(options, "--debuginfod: set the environment variable "
                      "DEBUGINFOD_URLS to the address of a server");
    is_right = false;
  }
  return is_right;
}

struct places add_names_places(const struct options *options,
                               const struct archive *bundle) {
  return (struct places){.sysroot = options->sysroot,
                         .debug_dirs = options->debug_dirs,
                         .binaries = options->binaries,
                         .bundle = bundle,
                         .asks_servers = options->debuginfod};
}

struct warnings {
  const struct options *options;
  enum names_mode mode;
  size_t count;
};

static void print_warning(void *arg, const char *text) {
  // Commands that show a profile must not bury it below messages.
  enum { MAX_SHOWN = 3 };
  static struct {
    char **items;
    size_t count, capacity;
  } printed;
  struct warnings *w = arg;
  for (size_t i = 0; i < printed.count; i++)
    if (strcmp(printed.items[i], text) == 0)
      return;
  *APPEND(printed.items, printed.count, printed.capacity) = strdup(text);
  if (w->mode != NAMES_AUTOMATIC || ++w->count <= MAX_SHOWN)
    complain(w->options, "%s", text);
  else if (w->count == MAX_SHOWN + 1)
    complain(w->options, "names of more files are missing; mprof symbolize "
                         "lists these files");
}

size_t add_names(const struct options *options, struct profile *p,
                 const struct archive *bundle, enum names_mode mode) {
  if (!names_are_wanted(p, mode))
    return 0;
  struct warnings w = {.options = options, .mode = mode};
  const struct names_request request = {.places =
                                            add_names_places(options, bundle),
                                        .mode = mode,
                                        .warn = print_warning,
                                        .arg = &w};
  return names_find(p, &request);
}

struct bundle_reader {
  struct profile *p;
  const char *error;
  unsigned count;
};

static void read_member(void *arg, const char *name,
                        const struct bytes *content) {
  (void)name;
  struct bundle_reader *r = arg;
  if (r->error)
    return;
  struct bytes copy = {.at = zeroed(content->length, 1),
                       .length = content->length};
  if (content->length)
    memcpy(copy.at, content->at, content->length);
  r->error = bytes_unzip(&copy);
  if (!r->error)
    r->error = read_profile(r->p, &copy, NULL);
  free(copy.at);
  r->count++;
}

static const char *read_bundle(const struct options *options, struct profile *p,
                               struct bytes *bytes) {
  struct archive *a = archive_read(bytes);
  struct bundle_reader r = {.p = p};
  archive_each(a, "profiles/", read_member, &r);
  if (r.count == 0)
    r.error = "the archive has no profile; mprof bundle writes such archives";
  if (!r.error)
    add_names(options, p, a, NAMES_AUTOMATIC);
  archive_free(a);
  return r.error;
}

const char *add_names_read(const struct options *options, struct profile *p,
                           const char *path) {
  struct bytes bytes;
  const char *error = bytes_read(path, &bytes);
  if (!error && bytes.length == 0)
    error = "the file is empty";
  if (!error)
    error = bytes_unzip(&bytes);
  if (!error)
    error = archive_is(&bytes) ? read_bundle(options, p, &bytes)
                               : read_profile(p, &bytes, NULL);
  free(bytes.at);
  return error;
}
