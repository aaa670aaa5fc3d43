// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the lists of mprof log and the records of an allocation log.

#ifndef MPROF_TOOL_SHOW_LOG_H
#define MPROF_TOOL_SHOW_LOG_H

#include "names/log_names.h"
#include "view/log_rows.h"

#include <stdio.h>

void show_live(FILE *out, const struct log_names *names,
               const struct log_pairs *pairs, const struct live_rows *rows);
void show_lifetimes(FILE *out, const struct log_names *names,
                    const struct log_pairs *pairs,
                    const struct lifetime_rows *rows);
// Prints at most `limit` blocks.
void show_freed_twice(FILE *out, const struct log_names *names,
                      const struct log_pairs *pairs, size_t limit);
// Prints all records in the form of Go's allocation log.
void show_records(FILE *out, const struct log_names *names);

// Returns whether the options of the view keep the stack.
bool show_log_has(const struct log_names *names, uint32_t stack);
// Prints "1 block" or "1,234 blocks".
void show_count(FILE *out, uint64_t count, const char *what);

#endif
