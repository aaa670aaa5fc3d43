// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortens the names of the functions in which C++ libraries start threads.

#ifndef MPROF_RT_TRACE_START_NAME_H
#define MPROF_RT_TRACE_START_NAME_H

#include "sys/message.h"

// Returns the name to show for the start function `name` of a thread. If the
// function belongs to a C++ library, appends the type of the callable object
// that the thread runs to t, and returns t's text. In all other cases returns
// name. *is_pointer becomes true if the type is a pointer to a function or to a
// member function, and is not changed otherwise.
const char *mprof_trace_start_name(const char *name, struct mprof_text *t,
                                   bool *is_pointer);

#endif // MPROF_RT_TRACE_START_NAME_H
