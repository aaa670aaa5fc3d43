// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof check: whether files are valid profiles. It checks more than pprof's
// CheckValid: damaged messages, the string table and the end of the file, too.

#include "commands/add_names.h"
#include "commands/options.h"
#include "common/plural.h"
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

// Checks one profile. arg: the worst exit status so far.
static const char *check_bytes(void *arg, const char *path,
                               const struct bytes *bytes) {
  int *worst = arg;
  struct check c = {.path = path};
  const struct read_report report = {print_violation, &c};
  struct profile *p = profile_new();
  read_profile(p, bytes, &report);
  check_rest(&c, p);
  style_put(stdout, path);
  if (c.violations)
    printf(": not valid, %lu violation%s\n", c.violations,
           plural(c.violations));
  else
    printf(": valid, %zu sample%s, %zu location%s, %zu function%s\n",
           p->sample_count, plural(p->sample_count), p->location_count,
           plural(p->location_count), p->function_count,
           plural(p->function_count));
  profile_free(p);
  if (c.violations && *worst < STATUS_FOUND)
    *worst = STATUS_FOUND;
  return NULL;
}

int command_check(const struct options *options) {
  int worst = STATUS_OK;
  for (int i = 0; i < options->path_count; i++) {
    struct input_file file;
    const char *error = input_file_open(&file, options->paths[i]);
    if (!error)
      error = input_file_each(&file, check_bytes, &worst);
    input_file_close(&file);
    if (error)
      worst = complain(options, "%s: %s", options->paths[i], error);
  }
  return worst;
}
