// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef MPROF_TRACE_SHORT_NAME_H
#define MPROF_TRACE_SHORT_NAME_H

#include "text.h"

// Returns the short name of a function, without the parameters. For the
// constructor of std::thread, returns the name of the function that the thread
// runs, which is the constructor's first template argument. The result points
// into the given text.
struct trace_text short_name(struct trace_text function);

#endif
