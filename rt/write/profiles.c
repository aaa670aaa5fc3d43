// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the kinds of profiles (profiles.h) for one profile on request, and
// for all profiles at the end of the process; see profiles.h.

#include "write/profiles.h"
#include "bucket/custom_profile.h"
#include "file/outfile.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "sys/tls.h"

#include <errno.h>
#include <string.h>

const struct mprof_profile_row mprof_profile_rows[MPROF_PROFILES] = {
#define MPROF_PROFILE(Name, Suffix, Kind, Variant, Section, Line, Text)        \
  {#Name, Suffix, &mprof_kind_##Kind, Variant, Section, Line, Text},
#define MPROF_PROFILE_OF_PROGRAM(Name, Suffix, Kind, Variant, Section, Line,   \
                                 Text)                                         \
  {NULL, Suffix, &mprof_kind_##Kind, Variant, Section, Line, Text},
#include "options/profiles.def"
};

// --- one profile on request ---

// Returns the row of the built-in profile with this name, or NULL.
static const struct mprof_profile_row *row_of(const char *name) {
  for (size_t i = 0; i < MPROF_PROFILES; i++)
    if (mprof_profile_rows[i].name != NULL &&
        strcmp(mprof_profile_rows[i].name, name) == 0)
      return &mprof_profile_rows[i];
  return NULL;
}

bool mprof_profile_find(struct mprof_profile_request *r, const char *name) {
  r->row = row_of(name);
  if (r->row != NULL)
    return true;
  r->row = &mprof_profile_rows[MPROF_PROFILE_custom];
  r->number = mprof_custom_profile_find(name);
  return r->number != MPROF_CUSTOM_PROFILES;
}

int mprof_profile_take(struct mprof_profile_request *r) {
  const struct mprof_profile_kind *kind = r->row->kind;
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  if (kind->is_offered != NULL && !kind->is_offered(r->row))
    return -ENOTSUP;
  r->copy = mprof_os_map(kind->copy_bytes);
  if (r->copy == NULL)
    return -ENOMEM;
  const int error = kind->take(r);
  if (error != 0)
    mprof_profile_drop(r);
  return error;
}

int mprof_profile_put(struct mprof_outfile *f, void *request) {
  const struct mprof_profile_request *r = request;
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  return r->row->kind->write(f, r);
}

void mprof_profile_drop(struct mprof_profile_request *r) {
  if (r->copy == NULL)
    return;
  r->row->kind->free(r->copy);
  mprof_os_unmap(r->copy, r->row->kind->copy_bytes);
  r->copy = NULL;
}

// --- all profiles at the end of the process ---

// Returns whether profile i is copied at the end of the process. A profile
// without a file suffix (such as allocs) is written only on request, so it
// needs no copy.
static bool has_copy(size_t i) { return mprof_profile_rows[i].suffix != NULL; }

static size_t copy_bytes(size_t i) {
  return (mprof_profile_rows[i].kind->copy_bytes + 15) / 16 * 16;
}

int mprof_summary_begin(struct mprof_summary *s) {
  memset(s, 0, sizeof(*s));
  for (size_t i = 0; i < MPROF_PROFILES; i++)
    if (has_copy(i))
      s->mapped_bytes += copy_bytes(i);
  s->memory = mprof_os_map(s->mapped_bytes);
  if (s->memory == NULL)
    return -ENOMEM;
  char *p = s->memory;
  for (size_t i = 0; i < MPROF_PROFILES; i++) {
    if (!has_copy(i))
      continue;
    s->copies[i] = p;
    p += copy_bytes(i);
  }
  return 0;
}

static bool is_on(const struct mprof_profile_kind *kind) {
  return kind->is_on == NULL || kind->is_on();
}

static bool is_shown(const struct mprof_summary *s, size_t i) {
  const struct mprof_profile_kind *kind = mprof_profile_rows[i].kind;
  if (!has_copy(i))
    return false;
  return kind->is_shown != NULL ? kind->is_shown(s->copies[i], s->copies)
                                : is_on(kind);
}

int mprof_summary_group(struct mprof_summary *s) {
  int error = 0;
  for (size_t i = 0; i < MPROF_PROFILES && error == 0; i++) {
    const struct mprof_profile_kind *kind = mprof_profile_rows[i].kind;
    if (has_copy(i) && kind->group != NULL)
      error = kind->group(s->copies[i]);
  }
  for (size_t i = 0; i < MPROF_PROFILES; i++)
    s->is_shown[i] = is_shown(s, i);
  return error;
}

int mprof_summary_take(struct mprof_summary *s) {
  MPROF_ASSERT(mprof_tls.guard != 0 && mprof_lock_is_held(MPROF_RANK_WRITE));
  int error = mprof_summary_begin(s);
  if (error != 0)
    return error;
  s->time_ns = mprof_sys_realtime_ns();
  for (size_t i = 0; i < MPROF_PROFILES && error == 0; i++) {
    const struct mprof_profile_request r = {.row = &mprof_profile_rows[i],
                                            .copy = s->copies[i],
                                            .copies = s->copies};
    if (has_copy(i) && is_on(r.row->kind))
      error = r.row->kind->take(&r);
  }
  return error != 0 ? error : mprof_summary_group(s);
}

bool mprof_summary_has_stacks(const struct mprof_summary *s) {
  for (size_t i = 0; i < MPROF_PROFILES; i++) {
    const struct mprof_profile_kind *kind = mprof_profile_rows[i].kind;
    if (has_copy(i) && kind->has_stacks != NULL &&
        kind->has_stacks(s->copies[i]))
      return true;
  }
  return false;
}

bool mprof_summary_has_data(void) {
  for (size_t i = 0; i < MPROF_PROFILES; i++) {
    const struct mprof_profile_row *row = &mprof_profile_rows[i];
    if (has_copy(i) && row->kind->has_data != NULL && row->kind->has_data(row))
      return true;
  }
  for (int i = 0; i < MPROF_STAT_COUNT; i++)
    // The counter is read first: the table would be one more page of memory in
    // programs of which nothing is recorded.
    if (mprof_stat_get(i) != 0 && mprof_stat_infos[i].is_loss &&
        i != MPROF_STAT_unchecked) // counts checks of files, not events
      return true;
  return false;
}

void mprof_summary_free(struct mprof_summary *s) {
  if (s->memory == NULL)
    return;
  for (size_t i = 0; i < MPROF_PROFILES; i++)
    if (has_copy(i))
      mprof_profile_rows[i].kind->free(s->copies[i]);
  mprof_os_unmap(s->memory, s->mapped_bytes);
}
