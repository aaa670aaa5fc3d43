// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sampled.h"

#include "common/memory.h"

#include <stdlib.h>

void sampled_add(struct sampled *s, const struct trace *trace, uint64_t stack) {
  struct place at = place_of(trace, stack);
  if (!at.pc)
    return;
  at.line = 0;
  const uint64_t key = place_key(&at);
  size_t i = 0;
  while (i < s->count && s->functions[i].key != key)
    i++;
  if (i == s->count)
    *APPEND(s->functions, s->count, s->capacity) =
        (struct sampled_function){.at = at, .key = key};
  s->functions[i].samples++;
  s->samples++;
}

// Compares two functions for qsort. Of functions with equally many samples, the
// one with the smaller key comes first, so that the order is always the same.
static int by_samples(const void *a, const void *b) {
  const struct sampled_function *x = a, *y = b;
  if (x->samples != y->samples)
    return x->samples < y->samples ? 1 : -1;
  return (x->key > y->key) - (x->key < y->key);
}

void sampled_sort(struct sampled *s) {
  if (s->count)
    qsort(s->functions, s->count, sizeof *s->functions, by_samples);
}

void sampled_clear(struct sampled *s) {
  free(s->functions);
  *s = (struct sampled){0};
}
