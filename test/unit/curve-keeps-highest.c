// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the curve of a value has the highest value of each step, also after
// steps were joined because a long time has passed. It keeps the highest value
// of all time.
//
// RUN: %unit %s %rt/bucket/curve.c -o %t && %t

#include "check.h"

#include "bucket/curve.h"

#include <string.h>

enum { CHANGES = 5000 };
static uint64_t times[CHANGES];
static int64_t values[CHANGES]; // from the change on

// Returns the highest value from time `from` on, before time `to`.
static int64_t highest(unsigned n, uint64_t from, uint64_t to) {
  int64_t found = 0, now = 0;
  for (unsigned i = 0; i < n && times[i] < to; i++) {
    if (times[i] >= from)
      found = found > now ? found : now;
    now = values[i];
    if (times[i] >= from)
      found = found > now ? found : now;
  }
  return found > now ? found : now;
}

static void check(const struct mprof_curve *c, unsigned n) {
  const uint64_t step = mprof_curve_step(c), begin = c->begin;
  CHECK(c->len > 0 && c->len <= MPROF_CURVE_STEPS);
  CHECK_EQ(c->len - 1, (times[n - 1] - begin) / step);
  for (unsigned i = 0; i < c->len; i++)
    CHECK_EQ(c->highest[i],
             highest(n, begin + i * step, begin + (i + 1) * step));
}

int main(void) {
  for (unsigned longest = 10; longest <= 50; longest += 4) {
    struct mprof_curve c;
    memset(&c, 0, sizeof(c));
    uint64_t state = longest, now = 12345;
    // The curve begins with the process, or with the first change.
    if (longest % 8 == 2)
      c.begin = now - 5;
    int64_t value = 0;
    for (unsigned i = 0; i < CHANGES; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      now += state >> 33 & ((UINT64_C(1) << longest) - 1) >> (state >> 60);
      const int64_t before = value;
      value = (int64_t)(state >> 40 & 0xffff);
      times[i] = now;
      values[i] = value;
      mprof_curve_add(&c, now, before, value);
      if ((i & (i + 1)) == 0 || i == CHANGES - 1)
        check(&c, i + 1);
    }
    // A processor whose counter is behind changes the first step.
    mprof_curve_add(&c, times[0] - 1, value, 1 << 20);
    CHECK_EQ(c.highest[0], 1 << 20);
  }
}
