// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers with units, as a person reads them.

#ifndef MPROF_TOOL_QUANTITY_H
#define MPROF_TOOL_QUANTITY_H

#include <stdint.h>

// The text of a number.
struct quantity {
  char text[48];
};

// Returns the number with the unit of profile.proto: "46.1 MiB" for bytes,
// "1.25 s" for nanoseconds, "1,234" for counts, "1,234 UNIT" for other units.
struct quantity quantity_of(int64_t value, const char *unit);
// The same with the standard error, as "46.1 ± 1.3 MiB". Without variance, the
// same as quantity_of. has_utf8: whether the output may contain "±"; else "+-".
struct quantity quantity_with_error(int64_t value, double variance,
                                    const char *unit, int has_utf8);
// Rounds to a number that the functions above take.
int64_t quantity_round(double value);
// Returns part/whole as "97 %", with one decimal below 10 %.
struct quantity quantity_share(int64_t part, int64_t whole);

#endif
