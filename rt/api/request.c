// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a profile to a file when the program calls mprof_write_profile, and
// lists the names of the profiles.

#include "bucket/custom_profile.h"
#include "file/outfile.h"
#include "file/writer_lock.h"
#include "process/process.h"
#include "sys/caller.h"
#include "sys/lock.h"
#include "sys/msan.h"
#include "sys/os_linux.h"
#include "sys/sort.h"
#include "sys/tls.h"
#include "write/profile_kind.h"
#include "write/profiles.h"
#include "write/write_file.h"

#include <errno.h>
#include <string.h>

struct request {
  const struct mprof_profile_row *row;
  struct mprof_profile_taking taking;
  const void *copy;
};

static int write_copy(struct mprof_outfile *f, void *arg) {
  const struct request *r = arg;
  return r->row->kind->write(f, r->copy, r->row, r->taking.form, 0);
}

static int take_and_write(struct request *r, const char *path) {
  const struct mprof_profile_kind *kind = r->row->kind;
  if (kind->is_offered != NULL && !kind->is_offered())
    return -ENOTSUP;
  void *copy = mprof_os_map(kind->copy_bytes);
  if (copy == NULL)
    return -ENOMEM;
  int error = kind->take(copy, r->row, &r->taking);
  r->copy = copy;
  if (error == 0)
    error = mprof_write_file(path, r->taking.form == MPROF_FORM_PPROF,
                             write_copy, r);
  kind->free(copy);
  mprof_os_unmap(copy, kind->copy_bytes);
  return error;
}

// Finds the profile that is called name and stores it in *r. Returns false if
// there is no profile with this name.
static bool find(struct request *r, const char *name) {
  r->row = mprof_profile_row_of(name);
  if (r->row != NULL)
    return true;
  r->row = &mprof_profile_rows[MPROF_PROFILE_custom];
  r->taking.number = mprof_custom_profile_find(name);
  return r->taking.number != MPROF_CUSTOM_PROFILES;
}

MPROF_PUBLIC int mprof_write_profile(const char *name, const char *path,
                                     int debug) {
  if (name == NULL || path == NULL || debug < 0 || debug >= MPROF_FORMS)
    return EINVAL;
  struct request r = {.taking.form = (enum mprof_profile_form)debug};
  if (!find(&r, name) || r.taking.form > r.row->kind->last_form)
    return EINVAL;
  if (!mprof_init_ready() || !mprof_process_is_own())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&mprof_writer_lock);
  MPROF_CALLER(&mprof_writer_caller);
  int error = take_and_write(&r, path);
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
  return -error;
}

MPROF_PUBLIC int mprof_profile_write(const struct mprof_profile *profile,
                                     const char *path, int debug) {
  const char *name = mprof_custom_profile_of(profile);
  return name != NULL ? mprof_write_profile(name, path, debug) : EINVAL;
}

// --- list of the profiles ---

static bool comes_first(const void *a, const void *b) {
  return strcmp(a, b) < 0;
}

MPROF_PUBLIC int mprof_profiles(const char **names, size_t len, size_t *n) {
  const char *all[MPROF_PROFILES + MPROF_CUSTOM_PROFILES];
  if (n == NULL || (names == NULL && len > 0))
    return EINVAL;
  *n = 0;
  for (size_t i = 0; i < MPROF_PROFILES; i++) {
    const struct mprof_profile_row *row = &mprof_profile_rows[i];
    if (row->name != NULL &&
        (row->kind->is_offered == NULL || row->kind->is_offered()))
      all[(*n)++] = row->name;
  }
  const size_t custom = mprof_custom_profiles();
  for (size_t i = 0; i < custom; i++)
    all[(*n)++] = mprof_custom_profile_name(i);
  mprof_sort((void **)all, *n, comes_first);
  mprof_msan_unpoison(n, sizeof(*n));
  if (*n > len)
    return ERANGE;
  if (names != NULL)
    memcpy(names, all, *n * sizeof(names[0]));
  mprof_msan_unpoison(names, *n * sizeof(names[0]));
  return 0;
}
