// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds llvm-symbolizer, and reports once why frames have no names.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZER_PATH_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZER_PATH_H

#include "sys/base.h"

// Stores the path of llvm-symbolizer in *path. The path is "" if the program
// has a sanitizer whose own symbolizer must be used. Returns false, and reports
// why, if there is no llvm-symbolizer or if it must not be run. Guarded by
// writer_lock.
bool mprof_symbolizer_find(const char **path);
// Reports that frames are shown without names. The message begins with what,
// name and rest; name is a path or "". A process prints one such message.
// Guarded by writer_lock.
void mprof_symbolizer_missing(const char *what, const char *name,
                              const char *rest);
// Prints the message of a forked child, even if its parent has printed one.
void mprof_symbolizer_forget(void);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZER_PATH_H
