// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Budgets: limits for the growth or for the size of the values of a profile.
//
//   BUDGET = TYPE ">" AMOUNT [ "@" RE ]
//   TYPE   = the name of a value type, such as alloc_space
//   AMOUNT = SIGN NUMBER "%"    growth in percent of OLD
//          | SIGN NUMBER UNIT   growth
//          | NUMBER UNIT        value of NEW
//   SIGN   = "+" | "-"
//   UNIT   = nothing, or a unit of the value type: B, kB, KiB, ...; ns, us, ...
//
// Spaces may stand around each part. RE selects stacks, as --focus does. A
// budget is broken if the value exceeds AMOUNT by more than noise explains.

#ifndef MPROF_TOOL_BUDGET_H
#define MPROF_TOOL_BUDGET_H

#include "compare/noise.h"

enum budget_kind { BUDGET_PERCENT, BUDGET_GROWTH, BUDGET_VALUE };

struct budget {
  const char *text; // as the user wrote it
  char type[64];
  enum budget_kind kind;
  double amount;       // a fraction for BUDGET_PERCENT: 0.05 for +5%
  const char *unit;    // "bytes", "nanoseconds", or NULL if none is written
  const char *pattern; // or NULL
};

// Parses a budget, to which *out then refers. Returns false and writes a
// message of one line if the text is wrong.
bool budget_parse(const char *text, struct budget *out, char *error,
                  size_t size);
// Checks whether the budget's unit suits the unit of its value type. Returns
// false and writes a message if not.
bool budget_check_unit(const struct budget *b, const char *unit, char *error,
                       size_t size);

struct verdict {
  bool is_broken;
  // Noise is so large that twice the budget might not be noticed.
  bool is_noisy;
  double limit;  // the largest value of NEW within the budget
  double error;  // standard error of NEW - limit
  double margin; // noise may exceed the limit by this much
};

struct verdict budget_judge(const struct budget *b, const struct estimate *old,
                            const struct estimate *new);

#endif
