// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof recover: makes profiles and the trace of the file that a killed process
// has left (option persist). mprof run does the same for programs that end
// without libc.

#include "commands/recover.h"

#include "commands/add_names.h"
#include "common/ends_with.h"
#include "common/memory.h"
#include "common/plural.h"
#include "files/bytes.h"
#include "files/file_kind.h"
#include "files/write_profile.h"
#include "persist/profiles.h"
#include "persist/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Prints the text if the command is mprof recover: standard output of mprof run
// belongs to the program.
__attribute__((format(printf, 2, 3))) static void
say(const struct options *options, const char *format, ...) {
  va_list values;
  va_start(values, format);
  if (options->command == COMMAND_recover)
    vprintf(format, values);
  va_end(values);
}

// Returns whether the process still has the file mapped.
static bool still_runs(const struct persist_file *f, const char *path) {
  char *maps = text_of("/proc/%d/maps", f->head.pid);
  char *real = realpath(path, NULL), line[4096 + 256];
  FILE *lines = real ? fopen(maps, "re") : NULL;
  bool found = false;
  while (lines && !found && fgets(line, sizeof line, lines)) {
    const size_t length = strcspn(line, "\n"), wanted = strlen(real);
    found =
        length >= wanted && memcmp(line + length - wanted, real, wanted) == 0;
  }
  if (lines)
    fclose(lines);
  free(real);
  free(maps);
  return found;
}

// Returns the number of stacks. A stack of the profile heapx has further
// samples for the lifetimes of its blocks.
static size_t count_stacks(const struct profile *p) {
  size_t count = 0;
  for (size_t i = 0; i < p->sample_count; i++)
    count += !profile_label(p, &p->samples[i], "lifetime");
  return count;
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
    say(options, "%s: %zu stack%s\n", path, count_stacks(p),
        plural(count_stacks(p)));
  free(path);
  return error ? STATUS_ERROR : STATUS_OK;
}

// Writes the trace to the file at path. Returns the number of events, or -1 and
// sets *error.
static int64_t write_trace_file(struct persist_trace *t, const char *path,
                                const char **error) {
  struct new_file file;
  *error = new_file_begin(&file, path);
  if (*error)
    return -1;
  const int fd = dup(file.fd);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
  const int64_t events = f ? persist_trace_write(t, f) : -1;
  if (events < 0)
    *error = strerror(f ? ENOMEM : errno);
  if (f && (ferror(f) != 0) + (fclose(f) != 0) != 0 && !*error)
    *error = strerror(errno);
  else if (!f && fd >= 0)
    close(fd);
  *error = new_file_end(&file, *error);
  return *error ? -1 : events;
}

// Writes the trace of a root, if there is one.
static int write_trace(const struct options *options, struct persist_file *f,
                       const char *path, const char *base,
                       enum mprof_persist_root root, const char *suffix) {
  const char *error;
  struct persist_trace *t = persist_trace_read(f, root, &error);
  if (error)
    complain(options, "%s: %s", path, error);
  if (!t) // the profiles are recovered all the same
    return STATUS_OK;
  add_names(options, persist_trace_names(t), NAMES_MISSING);
  char *name = text_of("%s%s", base, suffix);
  const int64_t events = write_trace_file(t, name, &error);
  if (events < 0)
    complain(options, "%s: %s", name, error);
  else
    say(options, "%s: %" PRId64 " event%s\n", name, events,
        plural((uint64_t)events));
  free(name);
  persist_trace_free(t);
  return events < 0 ? STATUS_ERROR : STATUS_OK;
}

// Writes the trace that the process was recording, and the trace whose file it
// was writing when it was killed.
static int write_traces(const struct options *options, struct persist_file *f,
                        const char *path, const char *base) {
  uint64_t *roots = f->head.roots;
  if (roots[MPROF_PERSIST_TRACE] == roots[MPROF_PERSIST_ENDED_TRACE])
    roots[MPROF_PERSIST_TRACE] = 0; // killed between two stores
  int status =
      write_trace(options, f, path, base, MPROF_PERSIST_TRACE, ".trace");
  const bool has_both =
      roots[MPROF_PERSIST_TRACE] != 0 && roots[MPROF_PERSIST_ENDED_TRACE] != 0;
  if (write_trace(options, f, path, base, MPROF_PERSIST_ENDED_TRACE,
                  has_both ? ".earlier.trace" : ".trace") != STATUS_OK)
    status = STATUS_ERROR;
  return status;
}

// Says what the profiles lack.
static void say_losses(const struct options *options, const char *path,
                       const struct persist_file *f) {
  if (f->is_in_use)
    complain(options,
             "%s: process %d still runs; the profiles show it as it is now",
             path, f->head.pid);
  if (f->head.state & MPROF_PERSIST_IS_CUT)
    complain(options,
             "%s: the file could not grow, so what the process recorded "
             "afterwards is missing",
             path);
  else if (f->is_damaged)
    complain(options, "%s: the file is damaged, so a part is missing", path);
}

// base: the begin of the names of the written files.
static int recover_file(const struct options *options, const char *path,
                        const char *base, struct persist_file *f) {
  struct persist persist;
  int status = STATUS_OK;
  persist_profiles(f, &persist);
  say_losses(options, path, f);
  for (size_t i = 0; i < persist.count; i++)
    if (write_one(options, base, &persist.profiles[i]) != STATUS_OK)
      status = STATUS_ERROR;
  persist_free(&persist);
  if (write_traces(options, f, path, base) != STATUS_OK)
    status = STATUS_ERROR;
  return status;
}

// only_ended: leaves the file of a process that still runs, and removes the
// file if everything is written.
static int recover(const struct options *options, const char *path,
                   const char *base, bool only_ended) {
  struct bytes bytes;
  struct persist_file file;
  const char *error = bytes_read(path, &bytes);
  if (error)
    return complain(options, "%s: %s", path, error);
  int status;
  error = persist_is(&bytes) ? NULL : file_kind(&bytes);
  if (error) {
    status = complain(options, "%s: %s", path, error);
  } else {
    error = persist_open(&file, &bytes);
    file.is_in_use = !error && still_runs(&file, path);
    file.has_exited = only_ended;
    if (error)
      status = complain(options, "%s: %s", path, error);
    else if (only_ended && file.is_in_use)
      status = STATUS_ERROR;
    else
      status = recover_file(options, path, base, &file);
    persist_close(&file);
    if (only_ended && status == STATUS_OK)
      unlink(path);
  }
  free(bytes.at);
  return status;
}

void recover_ended(const struct options *options, const char *directory,
                   const struct file_names *before) {
  struct file_names now = file_names_list(directory);
  for (size_t i = 0; i < now.count; i++) {
    const char *name = now.items[i];
    if (!ends_with(name, RECOVER_SUFFIX) || file_names_have(before, name))
      continue;
    char *path = text_of("%s/%s", directory, name);
    char *base =
        text_of("%.*s", (int)(strlen(path) - strlen(RECOVER_SUFFIX)), path);
    recover(options, path, base, true);
    free(base);
    free(path);
  }
  file_names_free(&now);
}

int command_recover(const struct options *options) {
  if (!add_names_check(options))
    return STATUS_ERROR;
  if (options->output && options->path_count > 1)
    return complain(options, "-o is for one file; give one file");
  for (int i = 0; i < options->path_count; i++)
    if (recover(options, options->paths[i],
                options->output ? options->output : options->paths[i],
                false) != STATUS_OK)
      return STATUS_ERROR;
  return STATUS_OK;
}
