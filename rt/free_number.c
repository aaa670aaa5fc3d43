// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number behind the name of files. In a container each process may have
// the same id, so thousands may be taken: they are not asked about one by one.

#include "writer.h"

// Steps that double until they end at a number that nobody has, then halves of
// the last one. Where numbers in between are free, one of these may be found.
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
