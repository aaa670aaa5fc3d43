// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes results as SARIF 2.1.0 (OASIS), the format in which code hosts and
// editors read the results of tools, and show them at their source lines.

#ifndef MPROF_TOOL_SARIF_H
#define MPROF_TOOL_SARIF_H

#include "commands/options.h"
#include "view/shown_frames.h"

enum sarif_rule {
  SARIF_LEAK,
  SARIF_GROWTH,
  SARIF_LOCK_ORDER,
  SARIF_STUCK,
  SARIF_RULES
};

struct sarif_stack {
  char *message;                    // what the thread does here, or NULL
  const struct shown_frame *frames; // leaf first
  uint32_t count;
  bool continues; // the thread is that of the stack before
};

struct sarif_result {
  enum sarif_rule rule;
  char *message; // without the function, except for SARIF_LOCK_ORDER
  struct sarif_stack *stacks;
  size_t stack_count, stack_capacity;
  size_t primary; // the stack with the place of the result
  double value;   // of the view's type
};

struct sarif_results {
  struct sarif_result *items;
  size_t count, capacity;
};

// Appends a stack to the result.
void sarif_add_stack(struct sarif_result *r, struct sarif_stack stack);

// Writes all of the file. The place of a result is the first frame of the
// user's code. Its fingerprint has the names of the functions, but no lines.
void sarif_print(FILE *out, const struct options *o, const struct view *v,
                 const struct sarif_results *results);

// Free the results with their messages and stacks, but not the frames.
void sarif_free_result(struct sarif_result *r);
void sarif_free(struct sarif_results *results);

#endif
