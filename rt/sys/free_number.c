// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the number that follows the names of files. In a container each process
// may have the same id, so thousands of numbers may be taken. They are not
// checked one by one.

#include "sys/free_number.h"

// Returns a number that is not taken. Doubles the step until a number is free,
// then bisects the last step. If there are free numbers in between, the result
// may be any of them.
unsigned mprof_free_number(unsigned first, unsigned max,
                           bool (*is_taken)(void *arg, unsigned number),
                           void *arg) {
  if (first >= max || !is_taken(arg, first))
    return first < max ? first : max;
  unsigned taken = first, step = 1, found = max;
  while (step < max - taken) {
    unsigned next = taken + step;
    if (!is_taken(arg, next)) {
      found = next;
      break;
    }
    taken = next;
    step *= 2;
  }
  while (found - taken > 1) {
    unsigned middle = taken + (found - taken) / 2;
    if (is_taken(arg, middle))
      taken = middle;
    else
      found = middle;
  }
  return found;
}
