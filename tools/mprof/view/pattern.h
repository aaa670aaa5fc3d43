// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regular expressions of users and of profiles. The syntax is that of PCRE2,
// which contains RE2's, the syntax that pprof reads.

#ifndef MPROF_TOOL_PATTERN_H
#define MPROF_TOOL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct pattern;

// Compiles a regular expression. If is_whole, the expression is one of a
// profile: it must match a whole text, and may take fewer steps. Else it is one
// of the user, and may match a part of a text. Returns NULL and a message of
// one line in error if the expression is wrong.
struct pattern *pattern_new(const char *text, bool is_whole, char *error,
                            size_t size);
// Returns whether the text matches. Returns false if the expression needs too
// many steps, because expressions of hostile files could run for ever.
bool pattern_matches(struct pattern *pattern, const char *text);
// Returns how many texts were not compared, because they needed too many steps
// or others before them had. pattern may be NULL.
unsigned long pattern_failures(const struct pattern *pattern);
// pattern may be NULL.
void pattern_free(struct pattern *pattern);

#endif
