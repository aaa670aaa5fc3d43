// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortens names of functions.

#ifndef MPROF_TRACE_SHORT_NAME_H
#define MPROF_TRACE_SHORT_NAME_H

#include "text.h"

// Returns the name of a function without its parameters. For the constructor of
// std::thread, returns the first template argument instead, because this
// argument is the callable that the thread runs. The result points into the
// given text.
struct trace_text short_name(struct trace_text function);

#endif
