// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/arguments.h"

#include "attach/threads.h"
#include "commands/directory.h"
#include "commands/input.h"
#include "commands/option_table.h"
#include "commands/wanted_kind.h"
#include "common/memory.h"
#include "files/read_profile.h"
#include "files/shown_path.h"
#include "files/write_profile.h"
#include "live/live_client.h"
#include "live/process_account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// --- running programs ---

static const char scheme[] = "http://";

static bool is_url(const char *text) {
  return strncmp(text, scheme, strlen(scheme)) == 0;
}

static bool is_https(const char *text) {
  return strncmp(text, "https://", strlen("https://")) == 0;
}

// Complains about the scheme https.
static bool check_scheme(const struct options *o, const char *argument) {
  if (is_https(argument))
    complain(o, "%s: mprof cannot use https; a program answers by http",
             argument);
  return !is_https(argument);
}

// Returns the argument without http://, which the caller frees. Stores the
// begin of the URL's path, or NULL.
static char *without_scheme(const char *argument, char **slash) {
  const bool has_scheme = is_url(argument);
  char *rest = text_of("%s", argument + (has_scheme ? strlen(scheme) : 0));
  *slash = has_scheme ? strchr(rest, '/') : NULL;
  return rest;
}

const char *arguments_target(const struct options *o, const char *argument) {
  if (!check_scheme(o, argument))
    return NULL;
  char *slash, *target = without_scheme(argument, &slash);
  if (slash && slash[1]) {
    complain(o, "%s: give the URL without a path, such as http://%.*s",
             argument, (int)(slash - target), target);
    return NULL;
  }
  if (slash)
    *slash = '\0';
  if (live_is_target(target))
    return target;
  complain(o,
           "%s is no process id, no socket, no ADDRESS:PORT and no URL of a "
           "running program",
           argument);
  return NULL;
}

// Closes a temporary file, and returns a path by which it can be read, or NULL.
// argument: of the user, which messages name instead.
static char *path_of(FILE *file, const char *argument) {
  // The copy of the descriptor stays open, and names the file.
  const int fd = fflush(file) == 0 ? dup(fileno(file)) : -1;
  fclose(file);
  if (fd < 0)
    return NULL;
  char *path = text_of("/proc/self/fd/%d", fd);
  shown_path_set(path, argument);
  return path;
}

// Returns the profile of the process's memory. On failure, returns NULL; the
// process may be another user's, which *why then says.
static struct profile *read_memory(int pid, char why[512]) {
  int error;
  struct profile *p = process_account(pid, &error);
  if (!p && error != -ENOENT)
    snprintf(why, 512, "process %d: its memory cannot be read: %s", pid,
             strerror(-error));
  return p;
}

// Returns the profile of the process's threads, or NULL and *why.
static struct profile *read_threads(int pid, bool only_stuck, char why[512]) {
  char *reason;
  struct profile *p = process_threads(pid, only_stuck, &reason);
  if (!p)
    snprintf(why, 512, "process %d: %s", pid, reason);
  free(reason);
  return p;
}

// Makes a profile of a process without a server, if the command shows one that
// can be read from outside. Returns the path of a file with it, or NULL.
static char *read_process(enum command_id command, const char *argument,
                          char why[512]) {
  char *end, *path = NULL;
  const long pid = strtol(argument, &end, 10);
  struct profile *p = NULL;
  if (*end != '\0' || pid <= 0 || pid > INT32_MAX)
    return NULL;
  if (command == COMMAND_memory)
    p = read_memory((int)pid, why);
  if (command == COMMAND_threads || command == COMMAND_stuck)
    p = read_threads((int)pid, command == COMMAND_stuck, why);
  if (!p)
    return NULL;
  FILE *file = tmpfile();
  const struct bytes all = write_profile(p);
  if (file && fwrite(all.at, 1, all.length, file) == all.length)
    path = path_of(file, argument);
  else if (file)
    fclose(file);
  if (!path)
    snprintf(why, 512, "there is no room in /tmp");
  free(all.at);
  profile_free(p);
  return path;
}

// Says that the profile of the program is empty because it is off, and how it
// is switched on.
static void hint_if_off(const struct options *o, const char *target,
                        const char *path) {
  static const char *const rows[][2] = {{"heap", "heap_rate"},
                                        {"block", "block_rate"},
                                        {"mutex", "mutex_fraction"}};
  struct profile *p = profile_new();
  const bool is_empty =
      read_profile_file(p, path) == NULL && p->sample_count == 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows && is_empty; i++) {
    const char *value = input_comment(p, rows[i][1]);
    if (value && strcmp(value, "0") == 0)
      complain(o,
               "note: the profile is off (%s=0); mprof ctl %s %s 10s profiles "
               "ten seconds, and mprof ctl %s set %s %s switches it on",
               rows[i][1], target, rows[i][0], target, rows[i][1],
               i == 0 ? "524288" : "1");
  }
  profile_free(p);
}

// Gets the profile `name` of a program, or that of the URL's path. Returns the
// path of a file with it, or NULL after a message.
static char *fetch(const struct options *o, const char *argument,
                   const char *name) {
  char *slash, *target = without_scheme(argument, &slash);
  char *page = slash && slash[1] ? text_of("%s", slash)
                                 : text_of("/debug/pprof/%s", name);
  char why[512], *path = NULL;
  if (slash)
    *slash = '\0';
  const int fd = live_connect(target, why, sizeof why);
  if (fd < 0) {
    if (!(path = read_process(o->command, argument, why)))
      complain(o, "%s", why);
  } else {
    FILE *file = tmpfile();
    struct live_reply reply = {
        .out = file, .most = UINT64_MAX, .text = "has no room in /tmp"};
    const int status = file ? live_ask(fd, "GET", page, &reply, NULL) : 0;
    if (status == 200) {
      if (!(path = path_of(file, argument)))
        complain(o, "%s: there is no room in /tmp", argument);
      else
        hint_if_off(o, target, path);
    } else {
      const bool shows_page = status && !(slash && slash[1]);
      complain(o, "%s%s%s: %s", argument, shows_page ? ": " : "",
               shows_page ? page : "", reply.text);
    }
  }
  free(page);
  free(target);
  return path;
}

bool arguments_is_program(const char *argument) {
  return is_url(argument) || is_https(argument) || live_is_target(argument);
}

// Returns whether the file has samples. A file that cannot be read has some, so
// that its reader prints a message.
static bool has_samples(const char *path) {
  struct profile *p = profile_new();
  const bool has = read_profile_file(p, path) != NULL || p->sample_count != 0;
  profile_free(p);
  return has;
}

char **arguments_profiles(const struct options *o, const char *argument,
                          size_t *count) {
  // Each of them is cheap for the program. Only for the last one does it read
  // all heaps, so mprof serve does not ask for it again and again.
  static const char *const names[] = {"heap",  "peak",  "locks", "mutex",
                                      "block", "cpu",   "wall",  "threads",
                                      "mmap",  "memory"};
  const size_t name_count =
      sizeof names / sizeof *names - (o->command == COMMAND_serve);
  char why[512], address[LIVE_ADDRESS], **paths = NULL;
  size_t capacity = 0;
  const char *target = arguments_target(o, argument);
  *count = 0;
  if (!target)
    return NULL;
  if (!live_find(target, address, why, sizeof why)) {
    char reason[512] = "";
    char *path = o->command == COMMAND_html
                     ? read_process(COMMAND_memory, argument, reason)
                     : NULL;
    complain(o, "%s%s", path ? "only the memory is shown: " : "",
             path || !*reason ? why : reason);
    if (path)
      *APPEND(paths, *count, capacity) = path;
    return paths;
  }
  for (size_t i = 0; i < name_count; i++) {
    char *page = text_of("/debug/pprof/%s", names[i]);
    FILE *file = tmpfile();
    struct live_reply reply = {
        .out = file, .most = HTTP_MEMORY_MAX, .text = "has no room in /tmp"};
    const int fd = file ? live_connect(address, why, sizeof why) : -1;
    const int status = fd >= 0 ? live_ask(fd, "GET", page, &reply, NULL) : 0;
    char *path = NULL;
    if (status == 200)
      path = path_of(file, text_of("%s.%s", argument, names[i]));
    else if (file)
      fclose(file);
    free(page);
    if (status == 0 || (status == 200 && !path)) {
      complain(o, "%s %s", argument, fd < 0 && file ? why : reply.text);
      return NULL;
    }
    // A program may lack a profile, or have it switched off.
    if (path && (i == 0 || has_samples(path)))
      *APPEND(paths, *count, capacity) = path;
  }
  if (*count == 0)
    complain(o, "%s has no profile", argument);
  return *count ? paths : NULL;
}

// --- all arguments ---

static bool reads_profiles(enum command_id command) {
  switch (command) {
  case COMMAND_memory:
  case COMMAND_locks:
  case COMMAND_threads:
  case COMMAND_stuck:
  case COMMAND_html:
  case COMMAND_leaks:
  case COMMAND_check:
    return true;
  default:
    return command_shows_any_kind(command);
  }
}

// Returns whether the argument is a running program of which mprof html shows
// all profiles: it has no path of a URL, and no option wants one kind.
static bool is_whole_program(const struct options *o, const char *argument) {
  char *slash, *target = without_scheme(argument, &slash);
  const bool is = o->command == COMMAND_html && !o->sample && !o->series &&
                  arguments_is_program(argument) && !(slash && slash[1]);
  free(target);
  return is;
}

// Replaces one argument by files of the kind. Returns false after a message.
static bool resolve(const struct options *o, const struct profile_kind *kind,
                    char *argument, struct options *own) {
  const char *const suffixes[] = {
      o->command == COMMAND_check ? ".pb.gz" : kind->suffix, NULL};
  *own = *o;
  own->paths = zeroed(1, sizeof *own->paths);
  own->paths[0] = argument;
  own->path_count = 1;
  if (!check_scheme(o, argument))
    return false;
  if (is_whole_program(o, argument)) {
    size_t count;
    own->paths = arguments_profiles(o, argument, &count);
    own->path_count = (int)count;
    return own->paths != NULL;
  }
  if (is_url(argument) || live_is_target(argument))
    return (own->paths[0] = fetch(o, argument, kind->name)) != NULL;
  if (o->command == COMMAND_html) // it shows all kinds of a directory
    return true;
  const char *report = o->command == COMMAND_stuck && !o->format
                           ? directory_newest(argument, ".stuck.txt")
                           : NULL;
  if (report) {
    own->paths[0] = text_of("%s", report);
    return true;
  }
  const struct options one = *own;
  return directory_expand(&one, suffixes,
                          o->command != COMMAND_check && !o->over_time, own);
}

bool arguments_resolve(struct options *o) {
  struct {
    char **items;
    size_t count, capacity;
  } paths = {0};
  if (!reads_profiles(o->command))
    return true;
  const int given = o->path_count;
  int first = o->first_count;
  if (o->command == COMMAND_leaks && given > 2) {
    complain(
        o,
        "%d files are given; write FILE, or OLD NEW ('mprof merge' adds up "
        "the files of several processes)",
        given);
    return false;
  }
  // The two sides of OLD NEW may each become several files.
  const bool has_sides =
      given == 2 && (o->command == COMMAND_leaks ||
                     (o->command == COMMAND_diff && first == 2));
  const int last_of_first = has_sides ? 1 : first;
  const struct profile_kind *kind = wanted_kind(o);
  for (int i = 0; i < given; i++) {
    struct options own;
    if (!resolve(o, kind, o->paths[i], &own))
      return false;
    for (int k = 0; k < own.path_count; k++)
      *APPEND(paths.items, paths.count, paths.capacity) = own.paths[k];
    if (i + 1 == last_of_first)
      first = (int)paths.count;
  }
  o->paths = paths.items;
  o->path_count = (int)paths.count;
  o->first_count = first;
  return true;
}
