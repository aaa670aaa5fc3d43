// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Explains a string of MPROF_OPTIONS.

#ifndef MPROF_TOOL_DOCTOR_OPTIONS_H
#define MPROF_TOOL_DOCTOR_OPTIONS_H

#include <stdbool.h>

// Parses the text as the runtime does, whose messages about wrong options go to
// standard error. Prints each option that then differs from its default, and
// what it means. Returns whether the text sets no option.
bool doctor_explain_options(const char *text);

#endif
