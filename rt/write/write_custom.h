// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a profile that the program defines (custom_profile.h), as
// profile.proto or as legacy text.

#ifndef MPROF_RT_WRITE_WRITE_CUSTOM_H
#define MPROF_RT_WRITE_WRITE_CUSTOM_H

#include "snapshot/snapshot_custom.h"

struct mprof_outfile;

// Each function writes one profile to f, and returns 0 or the first error of f.
// The caller closes f. Call these functions with the recursion guard set and
// writer_lock held.
int mprof_write_custom_pprof(struct mprof_outfile *f,
                             const struct mprof_custom_snapshot *s);
int mprof_write_custom_text(struct mprof_outfile *f,
                            const struct mprof_custom_snapshot *s);

#endif // MPROF_RT_WRITE_WRITE_CUSTOM_H
