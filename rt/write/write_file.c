// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes one file or one profile; see write_file.h.

#include "write/write_file.h"

#include "bucket/custom_profile.h"
#include "file/outfile.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_memory.h"
#include "write/profile_kind.h"
#include "write/profiles.h"

#include <errno.h>

int mprof_write_file(const char *path, bool gzip,
                     int (*write)(struct mprof_outfile *f, void *arg),
                     void *arg) {
  struct mprof_outfile *f = mprof_os_map(sizeof(*f));
  if (f == NULL)
    return -ENOMEM;
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  int error = path == NULL ? mprof_outfile_open_stderr(f)
                           : mprof_outfile_open(f, path, gzip);
  if (error == 0) {
    mprof_outfile_fail(f, write(f, arg));
    error = mprof_outfile_close(f);
  }
  MPROF_ASSERT(error <= 0);
  mprof_os_unmap(f, sizeof(*f));
  return error;
}

// --- profiles on request ---

bool mprof_profile_find(struct mprof_profile_request *r, const char *name) {
  r->row = mprof_profile_row_of(name);
  if (r->row != NULL)
    return true;
  r->row = &mprof_profile_rows[MPROF_PROFILE_custom];
  r->taking.number = mprof_custom_profile_find(name);
  return r->taking.number != MPROF_CUSTOM_PROFILES;
}

int mprof_profile_take(struct mprof_profile_request *r) {
  const struct mprof_profile_kind *kind = r->row->kind;
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  if (kind->is_offered != NULL && !kind->is_offered())
    return -ENOTSUP;
  r->copy = mprof_os_map(kind->copy_bytes);
  if (r->copy == NULL)
    return -ENOMEM;
  const int error = kind->take(r->copy, r->row, &r->taking);
  if (error != 0)
    mprof_profile_drop(r);
  return error;
}

int mprof_profile_put(struct mprof_outfile *f,
                      const struct mprof_profile_request *r) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  return r->row->kind->write(f, r->copy, r->row, r->taking.form, 0);
}

void mprof_profile_drop(struct mprof_profile_request *r) {
  if (r->copy == NULL)
    return;
  r->row->kind->free(r->copy);
  mprof_os_unmap(r->copy, r->row->kind->copy_bytes);
  r->copy = NULL;
}
