// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef MPROF_TRACE_SHORT_NAME_H
#define MPROF_TRACE_SHORT_NAME_H

#include "text.h"

// A function's name as a row or a line of a table has room for: without the
// parameters, and what a std::thread runs for its constructor, in whose name
// it is. A part of the text given.
struct trace_text short_name(struct trace_text function);

#endif
