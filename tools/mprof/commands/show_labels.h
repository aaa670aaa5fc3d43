// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The output of mprof top --by=LABEL.

#ifndef MPROF_TOOL_SHOW_LABELS_H
#define MPROF_TOOL_SHOW_LABELS_H

#include "commands/options.h"
#include "terminal/style.h"
#include "view/view.h"

#include <stdio.h>

// Prints the sums of the samples with each value of the label options->by.
// Returns the exit status of the command.
int show_labels(const struct options *options);
// Prints the same table of a view.
void print_labels(const struct view *v, const char *key, FILE *out,
                  const struct style *style);

#endif
