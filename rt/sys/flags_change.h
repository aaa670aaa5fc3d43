// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes and shows the options in mprof_flags while the program runs. Some
// options cannot change after the start.

#ifndef MPROF_RT_SYS_FLAGS_CHANGE_H
#define MPROF_RT_SYS_FLAGS_CHANGE_H

#include "sys/base.h"

// Changes an option in mprof_flags while the program runs. The caller passes
// the new value on to the code that has a copy of it, such as the sampling
// rate. Returns 0; -ENOENT if there is no such option; -EINVAL for a wrong
// value; or -EPERM if the option cannot change, and then *why is the reason.
// mprof_flags_put_mistake (flags_mistake.h) says what is wrong for -ENOENT and
// -EINVAL. Call with writer_lock held.
int mprof_flags_change(const char *name, const char *value, const char **why);
struct mprof_text;
// Appends "NAME=VALUE" for option i. If the option cannot change, also appends
// the reason. Returns false if i is past the last option.
bool mprof_flags_put(size_t i, struct mprof_text *t);
// Returns the number of the option with this name, or SIZE_MAX.
size_t mprof_flags_find(const char *name);

#endif // MPROF_RT_SYS_FLAGS_CHANGE_H
