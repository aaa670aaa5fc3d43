// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of JSON, written as it comes. Errors stay in the stream.

#ifndef MPROF_TRACE_JSON_H
#define MPROF_TRACE_JSON_H

#include "text.h"

#include <stdio.h>

// The inside of a string: escaped, and U+FFFD for what is not UTF-8.
void json_escape(FILE *out, struct trace_text text);

#endif
