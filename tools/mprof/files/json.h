// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes strings of JSON.

#ifndef MPROF_TOOL_JSON_H
#define MPROF_TOOL_JSON_H

#include <stdio.h>

// Writes the text as a string of JSON, with its quotes. "<" is escaped, so that
// the string may stand in an HTML page. Control characters and invalid UTF-8
// become "?".
void json_string(FILE *out, const char *text);

#endif
