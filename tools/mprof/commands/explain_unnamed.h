// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Explains rows such as "[git]", which stand for all functions of a file
// without names.

#ifndef MPROF_TOOL_EXPLAIN_UNNAMED_H
#define MPROF_TOOL_EXPLAIN_UNNAMED_H

#include "view/functions.h"

#include <stdio.h>

// Prints one line if one of the first `count` rows stands for functions without
// names, and has a noticeable part of the value. The line says how to get the
// names. A process prints the line once.
void explain_unnamed(const struct view *v, const struct function_table *rows,
                     size_t count, FILE *out);

#endif
