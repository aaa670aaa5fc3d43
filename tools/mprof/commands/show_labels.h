// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the labels of the samples of a stack.

#ifndef MPROF_TOOL_SHOW_LABELS_H
#define MPROF_TOOL_SHOW_LABELS_H

#include "view/stacks.h"

#include <stdio.h>

// Prints a line for each key, such as "    lock: queue (0x7f01), pool
// (0x7f02)". A key with many values gets the first ones and the number of the
// others. The sizes of blocks (label "bytes") are not printed.
void show_labels(const struct view *v, const struct stack_table *t,
                 const struct stack_row *row, FILE *out);

#endif
