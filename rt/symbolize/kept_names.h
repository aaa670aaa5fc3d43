// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the names that mprof has kept for an earlier process. So most short
// processes that follow each other need not start mprof.

#ifndef MPROF_RT_SYMBOLIZE_KEPT_NAMES_H
#define MPROF_RT_SYMBOLIZE_KEPT_NAMES_H

#include "symbolize/maps.h"
#include "symbolize/symbolizers.h"

// Passes all kept names of addresses in the mapping m to fn. Does nothing if
// there are no names, if other users can change them, if the module is another
// file than the one that m maps, or if one of the files has changed from which
// the names come. directory: the user's cache directory. program: path of
// mprof. Call with writer_lock held.
void mprof_kept_names_read(const char *directory, const char *program,
                           const struct mprof_mapping *m, mprof_names_fn *fn,
                           void *arg);

#endif // MPROF_RT_SYMBOLIZE_KEPT_NAMES_H
