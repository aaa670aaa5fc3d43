// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the cycles of locks of a profile lockorder in words or as SARIF.

#ifndef MPROF_TOOL_SHOW_ORDERS_H
#define MPROF_TOOL_SHOW_ORDERS_H

#include "commands/options.h"

#include <stdio.h>

// Prints at most `limit` cycles.
void show_orders(const struct view *v, int64_t limit, FILE *out);
// Prints the cycles as SARIF, at most `limit`, or all if it is 0. Returns their
// number.
size_t show_orders_sarif(const struct options *o, const struct view *v,
                         size_t limit);

#endif
