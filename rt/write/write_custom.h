// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of a profile of the program's own.

#ifndef MPROF_RT_WRITE_WRITE_CUSTOM_H
#define MPROF_RT_WRITE_WRITE_CUSTOM_H

#include "snapshot/snapshot_custom.h"

int mprof_write_custom_pprof(const struct mprof_custom_snapshot *s,
                             const char *path);
int mprof_write_custom_text(const struct mprof_custom_snapshot *s,
                            const char *path);

#endif // MPROF_RT_WRITE_WRITE_CUSTOM_H
