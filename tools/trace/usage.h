// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The help of the commands that read traces, from the table verbs.def.

#ifndef MPROF_TRACE_USAGE_H
#define MPROF_TRACE_USAGE_H

#include <stdio.h>

// Prints the help of a verb of mprof trace: "top", "json" or "check".
void trace_usage(FILE *out, const char *verb);
// Prints only the options of the verb.
void trace_usage_options(FILE *out, const char *verb);

#endif
