// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment of programs that MProf starts for itself, such as
// llvm-symbolizer or a pager. MProf must not profile them: their profiles would
// be mixed with those of the user's program, and a profiled llvm-symbolizer
// would start the next one. The functions take no locks and no memory.

#ifndef MPROF_RT_HELPER_HELPER_ENVIRONMENT_H
#define MPROF_RT_HELPER_HELPER_ENVIRONMENT_H

#include "sys/base.h"

// The variable that tells the runtime not to profile this process. The runtime
// may be in a program that MProf starts even without LD_PRELOAD, because the
// program was built with MProf, or because /etc/ld.so.preload names the
// runtime.
#define MPROF_HELPER_VARIABLE "MPROF_HELPER"
#define MPROF_HELPER_MARK MPROF_HELPER_VARIABLE "=1"

// Removes MProf's libraries from a list of libraries as in LD_PRELOAD, whose
// separators are colons and spaces. Changes the list in place. Returns whether
// the list names other libraries.
bool mprof_preload_list_clean(char *list);

// Stores in `memory` a copy of the environment `from`, which is a list of
// NAME=VALUE that ends with NULL, or NULL. The copy has the mark, but neither
// MPROF_OPTIONS nor MProf's libraries in LD_PRELOAD. The strings are those of
// `from`, except LD_PRELOAD, which is in `memory`, too. Returns `memory`, which
// has at least mprof_helper_environment_size(from) bytes and is aligned for
// pointers.
size_t mprof_helper_environment_size(char *const *from);
char **mprof_helper_environment(char *const *from, void *memory);

#endif // MPROF_RT_HELPER_HELPER_ENVIRONMENT_H
