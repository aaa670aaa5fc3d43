// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the names that mprof-symbolizer has kept for an earlier process. So
// most short processes that follow each other need not start mprof-symbolizer.

#ifndef MPROF_RT_SYMBOLIZE_KEPT_NAMES_H
#define MPROF_RT_SYMBOLIZE_KEPT_NAMES_H

#include "symbolize/maps.h"

// Receives the frames of the return address pc, in the form that
// symbolizer_answer.h describes.
typedef void mprof_names_fn(mprof_pc pc, const char *frames, void *arg);

// Passes the kept names of the n return addresses to fn. The addresses are
// sorted and in the mapping m. Does nothing if there are no names, if other
// users can change them, or if they are not about the file that m maps.
// directory: the user's cache directory. Call with writer_lock held.
void mprof_kept_names_read(const char *directory, const struct mprof_mapping *m,
                           const mprof_pc *pc, size_t n, mprof_names_fn *fn,
                           void *arg);

#endif // MPROF_RT_SYMBOLIZE_KEPT_NAMES_H
