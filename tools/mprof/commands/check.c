// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof check: whether files are valid profiles. It checks more than pprof's
// CheckValid: damaged messages, the string table and the end of the file, too.

#include "commands/options.h"
#include "files/read_profile.h"
#include "terminal/style.h"

#include <stdlib.h>

enum { MAX_SHOWN = 20 };

struct check {
  const char *path;
  unsigned long violations;
};

static void print_violation(void *arg, const char *text) {
  struct check *c = arg;
  if (++c->violations > MAX_SHOWN)
    return;
  style_put(stdout, c->path);
  fputs(": ", stdout);
  style_put(stdout, text);
  putchar('\n');
}

// Checks values that a reader accepts but that no writer should write.
static void check_rest(struct check *c, const struct profile *p) {
  if (p->is_truncated)
    print_violation(c, "the file ends too early");
  for (size_t i = 0; i < p->mapping_count; i++)
    if (p->mappings[i].limit < p->mappings[i].start)
      print_violation(c, "a mapping ends before its start");
  for (size_t i = 0; i < p->location_count; i++) {
    const struct location *l = &p->locations[i];
    const struct mapping *m =
        l->mapping == NO_MAPPING ? NULL : &p->mappings[l->mapping];
    if (m && m->limit && l->address &&
        (l->address < m->start || l->address >= m->limit))
      print_violation(c, "a location is outside of its mapping");
  }
}

static int check_file(const struct options *options, const char *path) {
  struct check c = {.path = path};
  const struct read_report report = {print_violation, &c};
  struct bytes bytes;
  const char *error = bytes_read(path, &bytes);
  if (!error)
    error = bytes_unzip(&bytes);
  if (error)
    return complain(options, "%s: %s", path, error);
  struct profile *p = profile_new();
  read_profile(p, &bytes, &report);
  check_rest(&c, p);
  free(bytes.at);
  style_put(stdout, path);
  if (c.violations)
    printf(": not valid, %lu violations\n", c.violations);
  else
    printf(": valid, %zu samples, %zu locations, %zu functions\n",
           p->sample_count, p->location_count, p->function_count);
  return c.violations ? STATUS_FOUND : STATUS_OK;
}

int command_check(const struct options *options) {
  int worst = STATUS_OK;
  for (int i = 0; i < options->path_count; i++) {
    const int status = check_file(options, options->paths[i]);
    worst = status > worst ? status : worst;
  }
  return worst;
}
