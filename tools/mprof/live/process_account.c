// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/process_account.h"

#include "common/memory.h"
#include "live/process_cgroup.h"
#include "memory/account.h"
#include "model/profile.h"
#include "sys/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Returns the location of a frame that is a name.
static uint32_t frame_of(struct profile *p, const char *name) {
  const struct mapping all = {.file = profile_text(p, "[mprof]"),
                              .has_functions = true};
  const uint32_t mapping = profile_mapping(p, &all);
  const struct function f = {.name = profile_text(p, name)};
  const struct line line = {.function = profile_function(p, &f)};
  const struct location l = {
      .mapping = mapping, .line_count = 1, .address = line.function};
  return profile_location(p, &l, &line);
}

static void add_row(struct profile *p, const struct mprof_account_row *r) {
  uint32_t stack[2], n = 0; // leaf first
  char clean[1024];
  struct mprof_text t = MPROF_TEXT(clean);
  if (r->usage.rss == 0 && r->usage.swap == 0)
    return;
  if (r->detail) {
    mprof_text_clean(&t, r->detail, strlen(r->detail));
    stack[n++] = frame_of(p, clean);
  }
  stack[n++] = frame_of(p, mprof_memory_part_name(r->part));
  const int64_t values[] = {
      (int64_t)r->used_beside, (int64_t)r->usage.private_dirty,
      (int64_t)r->usage.swap, (int64_t)r->usage.pss, (int64_t)r->usage.rss};
  profile_sample(p, stack, n, NULL, 0, 1, values);
}

static void add_comment(struct profile *p, const char *text) {
  profile_comment(p, profile_text(p, text));
}

void process_add_command(struct profile *p, int pid) {
  char path[64], line[4096];
  snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
  FILE *f = fopen(path, "r");
  const size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
  if (f)
    fclose(f);
  if (n == 0)
    return;
  for (size_t i = 0; i + 1 < n; i++)
    if (line[i] == '\0')
      line[i] = ' ';
  line[n] = '\0';
  char *comment = text_of("command: %s", line);
  add_comment(p, comment);
  free(comment);
}

// Adds what the cgroup of the process counts as a comment.
static void add_cgroup(struct profile *p, int pid) {
  struct process_cgroup c;
  if (!process_cgroup(pid, &c))
    return;
  char *comment = text_of("cgroup: %" PRIu64 " bytes, %" PRIu64
                          " of page cache, limit %" PRIu64,
                          c.used, c.cache, c.limit);
  add_comment(p, comment);
  free(comment);
}

struct profile *process_account(int pid, int *error) {
  static const char *const types[] = {"used_beside", "private_dirty", "swap",
                                      "pss", "rss"};
  struct mprof_account a;
  *error = mprof_account_take(&a, pid, NULL, 0, NULL, false);
  if (*error != 0) {
    mprof_account_free(&a);
    return NULL;
  }
  struct profile *p = profile_new();
  struct timespec now;
  char note[256];
  struct mprof_text t = MPROF_TEXT(note);
  p->type_count = sizeof types / sizeof *types;
  for (size_t i = 0; i < p->type_count; i++)
    p->types[i] = (struct value_type){profile_text(p, types[i]),
                                      profile_text(p, "bytes")};
  p->period_type = p->types[p->type_count - 1];
  p->period = 1;
  clock_gettime(CLOCK_REALTIME, &now);
  p->time_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  process_add_command(p, pid);
  add_comment(p, "read: from outside");
  add_cgroup(p, pid);
  mprof_account_put_notes(&t, &a);
  if (t.len > 0)
    add_comment(p, note);
  for (size_t i = 0; i < a.rows_len; i++)
    add_row(p, &a.rows[i]);
  mprof_account_free(&a);
  return p;
}
