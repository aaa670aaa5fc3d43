// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment of programs that MProf starts for itself, such as mprof or a
// pager. MProf must not profile them: their profiles would be mixed with those
// of the user's program.

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
// the list names other libraries. Takes no locks and no memory.
bool mprof_preload_list_clean(char *list);

#endif // MPROF_RT_HELPER_HELPER_ENVIRONMENT_H
