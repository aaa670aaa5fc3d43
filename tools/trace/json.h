// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes JSON text to a stream. The caller checks the stream for errors.

#ifndef MPROF_TRACE_JSON_H
#define MPROF_TRACE_JSON_H

#include "text.h"

#include <stdio.h>

// Writes the text, escaped for use between the quotes of a JSON string. Writes
// U+FFFD instead of each byte that is not valid UTF-8.
void json_escape(FILE *out, struct trace_text text);

#endif
