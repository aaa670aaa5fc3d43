// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds mprof. Reports why frames have no names, but only
// the first time.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZER_PATH_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZER_PATH_H

#include "sys/base.h"

// Stores the path of mprof in *path. Returns false and reports the reason if
// mprof is not found. Returns false without a report if the process is
// AT_SECURE. Call with writer_lock held.
bool mprof_symbolizer_find(const char **path);
// Returns the path of the user's cache directory, in which mprof may
// keep answers. Returns NULL if there is none. Call with writer_lock held.
const char *mprof_symbolizer_cache(void);
// Reports why there are no function names, but only the first time. The message
// begins with the strings `what`, `name` and `rest`, in this order. `name` is a
// path, an error or "". Call with writer_lock held.
void mprof_symbolizer_missing(const char *what, const char *name,
                              const char *rest);
// Called in a forked child. If function names are missing in the child, too,
// the child reports the reason again.
void mprof_symbolizer_forget(void);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZER_PATH_H
