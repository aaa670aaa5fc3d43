// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What mprof diff shows, in every format.

#ifndef MPROF_TOOL_COMPARISON_H
#define MPROF_TOOL_COMPARISON_H

#include "compare/budget.h"
#include "compare/changes.h"

#include <stdio.h>

// The budgets of one comparison.
struct judged_budget {
  struct budget budget;
  struct view *view; // the stacks that the budget is for
  struct estimate total[SIDES];
  struct verdict verdict;
  struct changes stacks; // sorted by growth; empty if the budget is kept
};

// The values of one type.
struct compared_values {
  struct view *view;
  struct estimate total[SIDES];
  struct changes functions;
};

struct comparison {
  struct sides *sides;
  struct compared_values *values; // at least one
  size_t value_count, value_capacity;
  const char *empty_type; // has been replaced because it is 0, or NULL
  struct judged_budget *budgets;
  size_t budget_count, broken_count;
  // The program's command line, or NULL if it is unknown. That of NEW is NULL
  // if it is the same.
  const char *command[SIDES];
  const char *lost; // lines that say which data are missing
  size_t row_limit; // at most this number of rows is shown; 0: all
  bool shows_noise;
};

struct comparison_options {
  char *const *paths; // the first old_count paths are the side OLD
  int old_count, path_count;
  const struct view_options *view;
  const struct text_list *budgets;
  bool keeps_std, is_exact;
  // Also compares the other values of the same unit. They are shown if they
  // differ by more than noise.
  bool compares_all;
  sides_reader *reader;
  // Is called for the profile that has both sides.
  void (*prepare)(const void *arg, struct profile *p);
  const void *arg;
};

// Reads the files and compares them. If the options choose no value type, and
// the values of the default one are 0 on both sides, compares another type of
// the same unit. Returns NULL and writes a message of one line if a file or a
// budget is wrong.
struct comparison *comparison_new(const struct comparison_options *options,
                                  char *error, size_t size);

// Returns the number of rows of `c` to show, without noise unless shows_noise.
size_t comparison_row_count(const struct comparison *d, const struct changes *c,
                            size_t limit);
// Returns how many stacks of a broken budget are shown.
size_t comparison_stack_count(const struct judged_budget *b);

// A text that the formats share.
struct comparison_text {
  char text[512];
};
// "+12.0 ± 1.8 MiB"
struct comparison_text comparison_difference(const struct estimate side[SIDES],
                                             const char *unit, bool has_utf8);
// "46.1 ± 1.3 MiB"
struct comparison_text comparison_value(const struct estimate *e,
                                        const char *unit, bool has_utf8);
// "+26 %", "new" or "gone"
struct comparison_text comparison_percent(const struct estimate side[SIDES]);
// Why the budget is broken or kept, or that the noise is too large to know.
struct comparison_text comparison_verdict(const struct judged_budget *b,
                                          bool has_utf8);
// "broken", "kept" or "noisy"
const char *comparison_verdict_name(const struct judged_budget *b);

// Print the comparison.
void comparison_print_text(const struct comparison *d, FILE *out,
                           const struct style *style);
void comparison_print_markdown(const struct comparison *d, FILE *out);
void comparison_print_json(const struct comparison *d, FILE *out);
void comparison_print_html(const struct comparison *d, FILE *out);

#endif
