// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements heapsort, and a search by bisection. Heapsort needs no extra
// memory and takes O(n log n) time even in the worst case.

#include "sys/sort.h"

// Returns whether a comes before b. Elements that comes_before does not tell
// apart are in the order of their addresses, so that sorting again, or after
// another order, gives the same result.
static bool is_before(const void *a, const void *b,
                      bool (*comes_before)(const void *, const void *)) {
  return comes_before(a, b) ||
         ((uintptr_t)a < (uintptr_t)b && !comes_before(b, a));
}

// Moves v[i] down to its position in the heap v, which has n elements. The root
// of the heap is the element that comes last in the sort order.
static void sink(void **v, size_t i, size_t n,
                 bool (*comes_before)(const void *, const void *)) {
  void *x = v[i];
  for (size_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && is_before(v[child], v[child + 1], comes_before))
      child++;
    if (!is_before(x, v[child], comes_before))
      break;
    v[i] = v[child];
  }
  v[i] = x;
}

void mprof_sort(void **v, size_t n,
                bool (*comes_before)(const void *, const void *)) {
  for (size_t i = n / 2; i-- > 0;)
    sink(v, i, n, comes_before);
  for (size_t end = n; end-- > 1;) {
    void *last = v[0];
    v[0] = v[end];
    v[end] = last;
    sink(v, 0, end, comes_before);
  }
}

// The numbers are parts of file names, which contain the process id. In
// different containers many processes have the same id. So thousands of numbers
// may be taken, and checking all of them would take too long.
//
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
