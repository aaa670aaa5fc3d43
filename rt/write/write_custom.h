// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of a profile of the program's own.

#ifndef MPROF_RT_WRITE_WRITE_CUSTOM_H
#define MPROF_RT_WRITE_WRITE_CUSTOM_H

#include "snapshot/snapshot_custom.h"

struct mprof_outfile;

int mprof_write_custom_pprof(struct mprof_outfile *f,
                             const struct mprof_custom_snapshot *s);
int mprof_write_custom_text(struct mprof_outfile *f,
                            const struct mprof_custom_snapshot *s);

#endif // MPROF_RT_WRITE_WRITE_CUSTOM_H
