// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/nearest.h"

#include <string.h>

enum { LONGEST = 32 };

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

// Returns the smallest number of insertions, deletions and replacements of
// characters, and exchanges of neighbours, that turn a into b. Both have at
// most LONGEST characters.
static unsigned distance_of(const char *a, size_t a_length, const char *b,
                            size_t b_length) {
  // d[i][j] is the distance between the first i characters of a and the first j
  // characters of b.
  unsigned d[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= a_length; i++)
    d[i][0] = (unsigned)i;
  for (size_t j = 0; j <= b_length; j++)
    d[0][j] = (unsigned)j;
  for (size_t i = 1; i <= a_length; i++)
    for (size_t j = 1; j <= b_length; j++) {
      d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
                      d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a_length][b_length];
}

struct nearest nearest_begin(const char *wrong, size_t length) {
  return (struct nearest){wrong, length, NULL, (unsigned)(length / 3) + 1};
}

void nearest_compare(struct nearest *n, const char *name) {
  const size_t length = strlen(name);
  if (n->length > LONGEST || length > LONGEST)
    return;
  const unsigned distance = distance_of(n->wrong, n->length, name, length);
  if (distance >= n->distance)
    return;
  n->distance = distance;
  n->name = name;
}
