// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/add_names.h"

#include "commands/directory.h"
#include "common/demangle.h"
#include "common/memory.h"
#include "files/read_profile.h"
#include "files/shown_path.h"
#include "names/lock_names.h"

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

// The bundles that were read. They stay in memory, because names are found when
// all files have been read: then equal stacks of all files are one sample.
static struct archive *bundles;

struct places add_names_places(const struct options *options) {
  return (struct places){.sysroot = options->sysroot,
                         .debug_dirs = options->debug_dirs,
                         .binaries = options->binaries,
                         .bundle = bundles,
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
  if (w->options->quiet)
    return;
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

// A server that has no file and a server that cannot be reached look alike to
// libdwfl.
static void say_what_servers_lack(const struct options *options,
                                  const struct profile *p) {
  size_t unnamed = 0;
  for (size_t i = 0; i < p->location_count; i++)
    unnamed += p->locations[i].line_count == 0;
  if (unnamed)
    complain(options,
             "--debuginfod: %zu of %zu address%s still %s: the servers of "
             "DEBUGINFOD_URLS have no file for %s, or cannot be reached",
             unnamed, p->location_count, p->location_count == 1 ? "" : "es",
             unnamed == 1 ? "has no name" : "have no names",
             unnamed == 1 ? "it" : "them");
}

void add_names_demangle(struct profile *p) {
  for (size_t i = 0; i < p->function_count; i++) {
    const char *name = p->strings[p->functions[i].name];
    char *plain = strncmp(name, "_Z", 2) == 0 ? demangle(name) : NULL;
    if (plain)
      p->functions[i].name = profile_text(p, plain);
    free(plain);
  }
}

size_t add_names(const struct options *options, struct profile *p,
                 enum names_mode mode) {
  const struct places places = add_names_places(options);
  add_names_demangle(p);
  if (mode == NAMES_MISSING || mode == NAMES_AUTOMATIC)
    lock_names_find(p, &places);
  if (!names_are_wanted(p, mode))
    return 0;
  struct warnings w = {.options = options, .mode = mode};
  const struct names_request request = {
      .places = places, .mode = mode, .warn = print_warning, .arg = &w};
  const size_t added = names_find(p, &request);
  if (options->debuginfod)
    say_what_servers_lack(options, p);
  return added;
}

const char *input_file_open(struct input_file *f, const char *path) {
  *f = (struct input_file){.path = shown_path(path)};
  const char *error = directory_message(path);
  if (!error)
    error = bytes_read(path, &f->bytes);
  if (!error)
    error = bytes_unzip(&f->bytes);
  if (!error && archive_is(&f->bytes))
    f->bundle = archive_read(&f->bytes);
  return error;
}

void input_file_close(struct input_file *f) {
  if (f->bundle)
    bundles = archive_join(f->bundle, bundles);
  free(f->bytes.at);
}

bool input_file_had_bundle(void) { return bundles != NULL; }

struct member_reader {
  const struct input_file *file;
  const char *(*found)(void *arg, const char *name, const struct bytes *bytes);
  void *arg;
  const char *error;
  unsigned count;
};

static void read_member(void *arg, const char *name,
                        const struct bytes *content) {
  struct member_reader *r = arg;
  if (r->error)
    return;
  struct bytes copy = {.at = zeroed(content->length, 1),
                       .length = content->length};
  if (content->length)
    memcpy(copy.at, content->at, content->length);
  char *path = text_of("%s/%s", r->file->path, name);
  r->error = bytes_unzip(&copy);
  if (!r->error)
    r->error = r->found(r->arg, path, &copy);
  free(copy.at);
  free(path);
  r->count++;
}

const char *input_file_each(const struct input_file *f,
                            const char *(*found)(void *arg, const char *name,
                                                 const struct bytes *bytes),
                            void *arg) {
  if (!f->bundle)
    return found(arg, f->path, &f->bytes);
  struct member_reader r = {.file = f, .found = found, .arg = arg};
  archive_each(f->bundle, "profiles/", read_member, &r);
  return r.count ? r.error
                 : "the archive has no profile; mprof bundle writes such "
                   "archives";
}

static const char *add_to_profile(void *arg, const char *name,
                                  const struct bytes *bytes) {
  (void)name;
  return bytes->length ? read_profile(arg, bytes, NULL) : "the file is empty";
}

const char *input_file_read(struct profile *p, const char *path) {
  struct input_file f;
  const char *error = input_file_open(&f, path);
  if (!error)
    error = input_file_each(&f, add_to_profile, p);
  input_file_close(&f);
  return error;
}
