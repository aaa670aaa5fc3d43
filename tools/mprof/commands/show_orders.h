// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the cycles of locks of a profile lockorder in words.

#ifndef MPROF_TOOL_SHOW_ORDERS_H
#define MPROF_TOOL_SHOW_ORDERS_H

#include "view/view.h"

#include <stdio.h>

// Prints at most `limit` cycles.
void show_orders(const struct view *v, int64_t limit, FILE *out);

#endif
