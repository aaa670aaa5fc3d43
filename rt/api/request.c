// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a profile to a file when the program calls mprof_write_profile, and
// lists the names of the profiles.

#include "bucket/custom_profile.h"
#include "file/outfile.h"
#include "file/writer_lock.h"
#include "process/process.h"
#include "sys/arch.h"
#include "sys/libc.h"
#include "sys/lock.h"
#include "sys/sort.h"
#include "sys/tls.h"
#include "write/profile_kind.h"
#include "write/profiles.h"
#include "write/write_file.h"

#include <errno.h>
#include <string.h>

static int write_copy(struct mprof_outfile *f, void *request) {
  return mprof_profile_put(f, request);
}

static int take_and_write(struct mprof_profile_request *r, const char *path) {
  int error = mprof_profile_take(r);
  if (error == 0)
    error = mprof_write_file(path, r->taking.form == MPROF_FORM_PPROF,
                             write_copy, r);
  mprof_profile_drop(r);
  return error;
}

MPROF_PUBLIC int mprof_write_profile(const char *name, const char *path,
                                     int debug) {
  if (name == NULL || path == NULL || debug < 0 || debug >= MPROF_FORMS)
    return EINVAL;
  struct mprof_profile_request r = {.taking.form =
                                        (enum mprof_profile_form)debug};
  if (!mprof_profile_find(&r, name) || r.taking.form > r.row->kind->last_form)
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
