// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof check: whether files are valid profiles. It checks more than pprof's
// CheckValid: damaged messages, the string table and the end of the file, too.

#include "commands/add_names.h"
#include "commands/options.h"
#include "common/plural.h"
#include "files/read_profile.h"
#include "files/shown_path.h"
#include "terminal/style.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN = 20 };

// The violations with the same text.
struct violation {
  char *text;
  unsigned long count;
};

struct check {
  const char *path;
  unsigned long violations;
  struct violation shown[MAX_SHOWN]; // the first texts
  size_t shown_count;
};

static void add_violations(struct check *c, const char *text,
                           unsigned long count) {
  size_t i = 0;
  c->violations += count;
  while (i < c->shown_count && strcmp(c->shown[i].text, text) != 0)
    i++;
  if (i == MAX_SHOWN)
    return;
  if (i == c->shown_count)
    c->shown[c->shown_count++] = (struct violation){.text = strdup(text)};
  c->shown[i].count += count;
}

static void add_violation(void *arg, const char *text) {
  add_violations(arg, text, 1);
}

// Prints each text once, with the number of its violations.
static void print_violations(struct check *c) {
  for (size_t i = 0; i < c->shown_count; i++) {
    struct violation *v = &c->shown[i];
    style_put(stdout, c->path);
    fputs(": ", stdout);
    style_put(stdout, v->text);
    if (v->count > 1)
      printf(" (%lu times)", v->count);
    putchar('\n');
    free(v->text);
  }
}

static const char *mapping_text(const struct profile *p,
                                const struct mapping *m, char *text,
                                size_t size) {
  snprintf(text, size, "0x%" PRIx64 "-0x%" PRIx64 " %.200s", m->start, m->limit,
           p->strings[m->file]);
  return text;
}

static void check_mappings(struct check *c, const struct profile *p) {
  char text[400], name[300];
  for (size_t i = 0; i < p->mapping_count; i++) {
    const struct mapping *m = &p->mappings[i];
    // The limit 0 means that the mapping is not known, as in
    // "0x0/0x0 [kernel.kallsyms]".
    if (m->limit == 0 || m->limit >= m->start)
      continue;
    snprintf(text, sizeof text, "a mapping ends before its start: %s",
             mapping_text(p, m, name, sizeof name));
    add_violation(c, text);
  }
}

static void check_locations(struct check *c, const struct profile *p) {
  char text[400] = "", name[300];
  unsigned long count = 0;
  for (size_t i = 0; i < p->location_count; i++) {
    const struct location *l = &p->locations[i];
    const struct mapping *m =
        l->mapping == NO_MAPPING ? NULL : &p->mappings[l->mapping];
    if (!m || !m->limit || !l->address ||
        (l->address >= m->start && l->address < m->limit))
      continue;
    if (count++ == 0)
      snprintf(text, sizeof text,
               "a location is outside of its mapping, such as 0x%" PRIx64
               " of %s",
               l->address, mapping_text(p, m, name, sizeof name));
  }
  if (count)
    add_violations(c, text, count);
}

// Checks values that a reader accepts but that no writer should write.
static void check_rest(struct check *c, const struct profile *p) {
  if (p->is_truncated)
    add_violation(c, "the file ends too early");
  check_mappings(c, p);
  check_locations(c, p);
}

// Checks one profile. arg: the worst exit status so far.
static const char *check_bytes(void *arg, const char *path,
                               const struct bytes *bytes) {
  int *worst = arg;
  struct check c = {.path = path};
  const struct read_report report = {add_violation, &c};
  struct profile *p = profile_new();
  read_profile(p, bytes, &report);
  check_rest(&c, p);
  print_violations(&c);
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
      worst = complain(options, "%s: %s", shown_path(options->paths[i]), error);
  }
  return worst;
}
