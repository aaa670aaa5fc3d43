// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the files of one of the program's own profiles (custom_profile.h).
// Each function replaces path by a new file, and returns 0 or an errno value,
// after which path is unchanged. Call with the guard set and writer_lock held.

#ifndef MPROF_RT_WRITE_WRITE_CUSTOM_H
#define MPROF_RT_WRITE_WRITE_CUSTOM_H

#include "snapshot/snapshot_custom.h"

// Writes a gzipped profile.proto.
int mprof_write_custom_pprof(const struct mprof_custom_snapshot *s,
                             const char *path);
// Writes legacy text.
int mprof_write_custom_text(const struct mprof_custom_snapshot *s,
                            const char *path);

#endif // MPROF_RT_WRITE_WRITE_CUSTOM_H
