// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Explains a string of MPROF_OPTIONS. Of the same string, messages about wrong
// options are printed once.

#ifndef MPROF_TOOL_DOCTOR_OPTIONS_H
#define MPROF_TOOL_DOCTOR_OPTIONS_H

#include <stdbool.h>

// Parses the text as the runtime does, and lets the runtime check the values
// whose syntax only it knows. The runtime's messages about
// wrong options go to standard error. Returns whether there was a wrong option.
// Returns false for the text that was parsed last.
bool doctor_has_new_mistakes(const char *text);

// Parses the text as the runtime does. Prints each option that then
// differs from its default, and what it means.
void doctor_explain_options(const char *text);

// Prints which kinds of profiles a program records with these options, and
// which option switches the others on.
void doctor_explain_kinds(const char *text);

// Returns whether the runtime accepts the options in the text. Prints what is
// wrong with the others.
bool doctor_accepts_option(const char *text);

#endif
