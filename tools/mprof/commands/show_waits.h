// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints which stuck thread waits for which: the labels "thread", "lock" and
// "holder" of a sample of a profile threadleak belong together.

#ifndef MPROF_TOOL_SHOW_WAITS_H
#define MPROF_TOOL_SHOW_WAITS_H

#include "view/stacks.h"

#include <stdbool.h>
#include <stdio.h>

// Prints a line for each cycle of threads of the view that wait for one
// another, at most a few lines. Prints nothing for other profiles.
void show_wait_cycles(const struct view *v, FILE *out);

// Prints lines such as "    waits: 21 -> 22 (queue)", at most a few, if the
// threads of the row wait for different locks or holders. Returns whether it
// did, so that the labels need no lines of their own.
bool show_waits(const struct view *v, const struct stack_table *t,
                const struct stack_row *row, FILE *out);

// Returns whether show_waits shows the label.
bool is_label_of_wait(const char *key);

#endif
