// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof doctor: why a profile has no samples, no names or short stacks, or why
// there is no file. It examines a program, a process or a profile.

#include "commands/directory.h"
#include "commands/doctor_options.h"
#include "commands/input.h"
#include "commands/options.h"
#include "common/memory.h"
#include "common/plural.h"
#include "files/bytes.h"
#include "files/file_kind.h"
#include "names/elf_info.h"
#include "terminal/quantity.h"
#include "view/estimate.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Problems were found, or not.
static int found;

__attribute__((format(printf, 2, 3))) static void say(bool is_good,
                                                      const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fputs(is_good ? "ok       " : "problem  ", stdout);
  style_put(stdout, text);
  putchar('\n');
  found |= !is_good;
}

// --- programs ---

static bool has_library(const struct elf_info *info, const char *prefix) {
  for (size_t i = 0; i < info->needed_count; i++)
    if (strncmp(info->needed[i], prefix, strlen(prefix)) == 0)
      return true;
  return false;
}

// is_preloaded: a process of the program has loaded libmprof_preload.so.
static void examine_build(const struct elf_info *info, bool is_preloaded) {
  if (info->has_runtime)
    say(true, "MProf's runtime is linked into the program");
  else if (is_preloaded)
    say(true, "the process has loaded libmprof_preload.so, MProf's runtime for "
              "programs without the plugin");
  else if (has_library(info, "libmprof_rt"))
    say(true, "the program loads MProf's runtime, libmprof_rt.so");
  else if (has_library(info, "libmprof_preload"))
    say(true, "the program is linked with MProf's runtime for programs without "
              "the plugin, libmprof_preload.so");
  else if (info->needs_runtime)
    say(true, "the file is a library that is built with MProf; the program "
              "must be built with MProf, too");
  else
    say(false,
        "the file is not built with MProf; compile and link it with "
        "mprof-clang -fmprof%s",
        info->is_static ? "" : ", or run it with mprof run");
  if (info->abi)
    say(true, "version of the calls to the runtime: %u", info->abi);
  if (info->is_static)
    say(true, "the program is linked statically, so it has no libraries that "
              "could lack MProf");
}

static void examine_user(const struct elf_info *info) {
  if (info->changes_user)
    say(true, "the program can change its user; then the directory of the "
              "files (log_path, or mprof run -o) must be writable for the new "
              "user");
}

static void examine_names(const struct elf_info *info) {
  if (info->has_debug_info)
    say(true, "the file has debug information: functions, lines, inlined "
              "functions");
  else if (info->has_symbols)
    say(false, "the file has function names, but no lines and no inlined "
               "functions; compile it with -g1 or -g");
  else
    say(false, "the file has neither function names nor debug information, "
               "because it is stripped; keep its debug file, or link without "
               "-s");
  if (info->has_build_id)
    say(true, "the file has a build id, so names can be added later");
  else
    say(false, "the file has no build id, so names cannot be added later; link "
               "with -Wl,--build-id");
}

// The messages about the mistakes are on standard error.
static void examine_options(const char *text) {
  if (doctor_has_new_mistakes(text))
    say(false, "the options have mistakes; a message names each");
}

// text: the options of the program. is_preloaded: as for examine_build.
static int examine_program(const struct options *o, const char *path,
                           const char *text, bool is_preloaded) {
  struct elf_info info;
  const char *error = elf_info_read(path, &info);
  if (error)
    return complain(o, "%s: %s", path, error);
  if (!info.is_elf) {
    struct bytes bytes;
    error = bytes_read(path, &bytes);
    const char *what = error ? NULL : file_kind(&bytes);
    if (error)
      return complain(o, "%s: %s", path, error);
    say(false, "the file is %s",
        what ? what
             : "no program and no profile, but perhaps a script; examine the "
               "program that it starts");
    free(bytes.at);
    return STATUS_OK;
  }
  examine_build(&info, is_preloaded);
  examine_options(text);
  if (info.has_runtime || is_preloaded || has_library(&info, "libmprof_rt"))
    doctor_explain_kinds(text);
  examine_user(&info);
  examine_names(&info);
  elf_info_free(&info);
  return STATUS_OK;
}

// --- processes ---

// Returns the value of a variable in the environment of the process, or NULL if
// it has none or it cannot be read.
static char *variable_of(const char *pid, const char *name) {
  char path[64];
  struct bytes environment;
  snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
  if (bytes_read(path, &environment) != NULL)
    return NULL;
  char *value = NULL;
  const size_t length = strlen(name);
  for (size_t i = 0; i + length < environment.length;) {
    const char *at = (const char *)environment.at + i;
    const size_t rest = strnlen(at, environment.length - i);
    if (rest > length && strncmp(at, name, length) == 0 && at[length] == '=')
      value = strndup(at + length + 1, rest - length - 1);
    i += rest + 1;
    if (value)
      break;
  }
  free(environment.at);
  return value;
}

// Returns whether the process has loaded libmprof_preload.so.
static bool has_preload(const char *pid) {
  static const char library[] = "/libmprof_preload.so";
  char path[64];
  struct bytes maps;
  snprintf(path, sizeof path, "/proc/%.20s/maps", pid);
  if (bytes_read(path, &maps) != NULL)
    return false;
  const bool has = memmem(maps.at, maps.length, library, sizeof library - 1);
  free(maps.at);
  return has;
}

static void examine_libraries(const char *pid) {
  char path[64], line[4096], last[PATH_MAX] = "";
  snprintf(path, sizeof path, "/proc/%.20s/maps", pid);
  FILE *maps = fopen(path, "re");
  while (maps && fgets(line, sizeof line, maps)) {
    char *file = strchr(line, '/');
    line[strcspn(line, "\n")] = '\0';
    if (!file || !strstr(line, "r-xp") || strcmp(file, last) == 0)
      continue;
    snprintf(last, sizeof last, "%.4000s", file);
    struct elf_info info;
    if (elf_info_read(file, &info) != NULL)
      continue;
    if (info.needs_runtime)
      say(true, "%s is built with MProf", file);
    elf_info_free(&info);
  }
  if (maps)
    fclose(maps);
}

static int examine_process(const struct options *o, const char *pid) {
  char path[64], program[PATH_MAX];
  snprintf(path, sizeof path, "/proc/%.20s/exe", pid);
  const ssize_t length = readlink(path, program, sizeof program - 1);
  if (length < 0)
    return complain(o, "%s: there is no such process, or it is another user's",
                    pid);
  program[length] = '\0';
  say(true, "process %s runs %s", pid, program);
  char *value = variable_of(pid, "MPROF_OPTIONS");
  const int status =
      examine_program(o, path, value ? value : "", has_preload(pid));
  examine_libraries(pid);
  if (value)
    doctor_explain_options(value);
  else
    say(true, "MPROF_OPTIONS is not set, so the defaults hold");
  free(value);
  return status;
}

// --- profiles ---

static void examine_kind(const struct profile *p, const char *path) {
  static const char *const rates[] = {"heap_rate", "block_rate",
                                      "mutex_fraction"};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    const char *rate = input_comment(p, rates[i]);
    if (rate) {
      say(true, "the profile has the kind %s, with %s=%s%s",
          input_kind(p, path), rates[i], rate,
          profile_has_other_periods(p)
              ? " now; some samples were taken at another rate"
              : "");
      return;
    }
  }
  say(true, "the profile has the kind %s", input_kind(p, path));
}

static void examine_samples(const struct profile *p) {
  if (p->sample_count)
    say(true, "the profile has %zu stack%s", p->sample_count,
        plural(p->sample_count));
  else if (p->is_truncated)
    say(false, "the profile has no sample, because the file ends too early; "
               "write it again");
  else if (estimate_is_sampled(p, 0))
    say(false,
        "the profile has no sample: the program allocated little beside one "
        "sample in %s; set heap_rate to a smaller value, such "
        "as heap_rate=64k or 1",
        quantity_of(p->period, "bytes").text);
  else
    say(false, "the profile has no sample: nothing was recorded");
}

// The addresses without names.
struct unnamed {
  size_t count, in_program; // in_program: in the program's own file, or unknown
  // The file that has most of the others, and their number there.
  uint32_t library;
  size_t in_library;
};

static struct unnamed count_unnamed(const struct profile *p) {
  struct unnamed u = {.library = NO_MAPPING};
  size_t *counts = zeroed(p->mapping_count + 1, sizeof *counts);
  for (size_t i = 0; i < p->location_count; i++) {
    const struct location *l = &p->locations[i];
    if (l->line_count > 0)
      continue;
    u.count++;
    if (l->mapping == NO_MAPPING || l->mapping == 0) {
      u.in_program++;
    } else if (++counts[l->mapping] > u.in_library) {
      u.in_library = counts[l->mapping];
      u.library = l->mapping;
    }
  }
  free(counts);
  return u;
}

static void examine_profile_names(const struct profile *p) {
  const struct unnamed u = count_unnamed(p);
  const char *has = u.count == 1 ? "has no name" : "have no names";
  const char *es = p->location_count == 1 ? "" : "es";
  const char *library =
      u.library == NO_MAPPING ? NULL : p->strings[p->mappings[u.library].file];
  if (u.count == 0)
    say(true, "all addresses have names: %zu", p->location_count);
  else if (u.in_program == 0 && library && elf_is_stripped(library))
    // Libraries of the system usually have no symbols.
    say(true,
        "%zu of %zu address%s %s, %zu of them in %s, which has no "
        "symbols: install its debug symbols (often a package NAME-dbgsym), or "
        "use mprof top --debuginfod",
        u.count, p->location_count, es, has, u.in_library, library);
  else
    say(false,
        "%zu of %zu address%s %s; mprof symbolize adds them if the "
        "program's files are there",
        u.count, p->location_count, es, has);
  for (size_t i = 0; i < p->mapping_count; i++)
    if (p->mappings[i].build_id == 0 && p->mappings[i].has_functions == false)
      say(false, "%s has no build id", p->strings[p->mappings[i].file]);
}

// Not every kind of profile counts its truncated stacks, but all show them.
static bool has_truncated_stacks(const struct profile *p) {
  for (size_t i = 0; i < p->function_count; i++)
    if (strcmp(p->strings[p->functions[i].name], "[truncated]") == 0)
      return true;
  return false;
}

static int examine_profile(const struct options *o, char *path) {
  struct profile *p = input_read(o, &path, 1);
  if (!p)
    return STATUS_ERROR;
  examine_kind(p, path);
  examine_samples(p);
  if (p->location_count)
    examine_profile_names(p);
  if (input_print_losses(p, stdout))
    found = true;
  else if (has_truncated_stacks(p))
    say(false, "some stacks are truncated; nothing else was lost");
  else
    say(true, "nothing was lost or truncated");
  return STATUS_OK;
}

// --- the command ---

static bool is_number(const char *text) {
  return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool is_profile(const char *path) {
  if (input_is_pipe(path))
    return true;
  FILE *file = fopen(path, "re");
  unsigned char head[4] = {0};
  const size_t n = file ? fread(head, 1, sizeof head, file) : 0;
  if (file)
    fclose(file);
  // An uncompressed profile begins with its first sample type.
  return n == 4 && ((head[0] == 0x1f && head[1] == 0x8b) ||
                    (head[0] == 0x0a && head[2] == 0x08));
}

static int examine_directory(const struct options *o, char *path) {
  static const char *const suffixes[] = {".pb.gz", NULL};
  struct options given = *o, own;
  given.paths = &path;
  given.path_count = given.first_count = 1;
  if (!directory_expand(&given, suffixes, true, &own))
    return STATUS_ERROR;
  int status = STATUS_OK;
  for (int i = 0; i < own.path_count; i++) {
    style_put(stdout, own.paths[i]);
    puts(":");
    if (examine_profile(o, own.paths[i]) != STATUS_OK)
      status = STATUS_ERROR;
  }
  return status;
}

int command_doctor(const struct options *o) {
  int status = STATUS_OK;
  const char *variable = getenv("MPROF_OPTIONS");
  if (o->explain) {
    examine_options(o->explain);
    doctor_explain_options(o->explain);
  }
  for (int i = 0; i < o->path_count && status == STATUS_OK; i++) {
    char *path = o->paths[i];
    if (o->path_count > 1) {
      style_put(stdout, path);
      puts(":");
    }
    char *program = is_number(path) ? NULL : elf_find_program(path);
    if (directory_is(path))
      status = examine_directory(o, path);
    else if (is_number(path) && access(path, F_OK) != 0)
      status = examine_process(o, path);
    else if (is_profile(path))
      status = examine_profile(o, path);
    else
      status = examine_program(o, program ? program : path,
                               o->explain ? o->explain
                               : variable ? variable
                                          : "",
                               false);
    free(program);
  }
  return status == STATUS_OK && found ? STATUS_FOUND : status;
}
