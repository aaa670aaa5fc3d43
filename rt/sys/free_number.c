// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a free number to append to the name of an output file. File names
// contain the process id, and in different containers many processes have the
// same id. So thousands of numbers may be taken, and checking all of them would
// take too long.

#include "sys/free_number.h"

// Returns a number that is not taken. First tries larger and larger numbers,
// with a step that doubles each time, until a number is free. Then searches by
// bisection between this free number and the last taken number. The result need
// not be the smallest free number.
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
