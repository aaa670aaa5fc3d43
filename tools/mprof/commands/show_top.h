// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the table of mprof top, for all commands that show it.

#ifndef MPROF_TOOL_SHOW_TOP_H
#define MPROF_TOOL_SHOW_TOP_H

#include "commands/options.h"
#include "terminal/style.h"
#include "terminal/table.h"
#include "view/functions.h"
#include "view/view.h"

#include <stdio.h>

// Returns a table of the first `count` rows. The caller frees it. title: of the
// last column.
struct table *top_table(const struct view *v, const struct function_table *rows,
                        size_t count, const char *title, bool has_utf8);
// Prints title, table, sum and losses. limit: largest number of rows, 0: all.
// how: as for input_print_end.
void show_top(const struct view *v, const struct function_table *rows,
              size_t limit, enum view_grain grain, FILE *out,
              const struct style *style, const char *how);

// --- mprof top --by=type ---
//
// The output of mprof top --by=type.

// Prints the types of the blocks. Returns the exit status of the command.
int show_types(const struct options *options);

// --- mprof top --by=LABEL (labels.c) ---
//
// The output of mprof top --by=LABEL.

// Prints the sums of the samples with each value of the label options->by.
// Returns the exit status of the command.
int show_labels(const struct options *options);
// Prints the same table of a view.
void print_labels(const struct view *v, const char *key, FILE *out,
                  const struct style *style);

#endif
