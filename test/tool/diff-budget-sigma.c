// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: noise breaks a budget that is just kept in about 1 % of cases, and a
// smaller growth even less often. Unless the verdict tells that the noise is
// too large, twice the budget is found in at least 95 % of cases. That holds
// for sampled values, for few samples, and for values whose noise only the
// differences between files show.
//
// RUN: %clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined \
// RUN:   -I%src/tools/mprof %s %src/tools/mprof/compare/{budget,noise}.c -lm -o %t
// RUN: %t

#include "compare/budget.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 10000 };

// --- random numbers ---

static uint64_t state = 1;

static double uniform(void) { // in (0, 1)
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return ((double)(state >> 12) + 0.5) / 0x1p52;
}

static double normal(void) {
  return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double poisson(double mean) {
  if (mean > 500)
    return fmax(0, round(mean + sqrt(mean) * normal()));
  double count = 0;
  for (double sum = -log(uniform()); sum < mean; sum -= log(uniform()))
    count++;
  return count;
}

// --- one side ---

struct load {
  double samples; // of a side
  double jitter;  // relative standard deviation between files, without sampling
  size_t files;
};

// Blocks of three sizes. Each sample of weight w counts as w with the variance
// w * w.
static struct estimate side_of(const struct load *l, double factor) {
  static const double weights[] = {1, 3, 10};
  struct estimate e = {.files = l->files};
  double totals[64];
  for (size_t i = 0; i < l->files; i++) {
    totals[i] = 0;
    const double own = 1 + l->jitter * normal();
    for (int k = 0; k < 3 && l->samples > 0; k++) {
      const double n = poisson(factor * own * l->samples / 3);
      totals[i] += n * weights[k];
      e.variance += n * weights[k] * weights[k];
    }
    if (l->samples == 0)
      totals[i] = 1e6 * factor * own;
    e.value += totals[i];
  }
  const double n = (double)l->files;
  e.value /= n;
  e.variance /= n * n;
  for (size_t i = 0; i < l->files && n > 1; i++)
    e.spread += pow(totals[i] - e.value, 2) / (n - 1) / n;
  return e;
}

static int failures;

// Judges many pairs. Requires that the share of broken budgets is between low
// and high.
static void check(const char *text, struct load l, double factor, double low,
                  double high, const char *what) {
  struct budget b;
  char error[200];
  if (!budget_parse(text, &b, error, sizeof error)) {
    puts(error);
    exit(1);
  }
  int broken = 0, missed = 0, noisy = 0;
  for (int i = 0; i < PAIRS; i++) {
    const struct estimate old = side_of(&l, 1), new = side_of(&l, factor);
    const struct verdict v = budget_judge(&b, &old, &new);
    broken += v.is_broken;
    missed += !v.is_broken && !v.is_noisy;
    noisy += v.is_noisy;
  }
  const double share = (double)broken / PAIRS;
  const int is_wrong =
      share < low || share > high || (low > 0 && missed > 0.055 * PAIRS) ||
      // So few samples cannot keep a budget without a warning.
      (low == 0 && l.files == 1 && l.samples < 400 && missed > 0.01 * PAIRS);
  printf("%s%s: %.2f %% broken, %.2f %% kept, %.1f %% noisy\n",
         is_wrong ? "WRONG: " : "", what, 100 * share, 100. * missed / PAIRS,
         100. * noisy / PAIRS);
  failures += is_wrong;
}

int main(void) {
  // The relative standard error of n samples of the three weights is
  // sqrt(110 / 3 / n) * 3 / 14. The growth's error must be 5 % / 3.97.
  const double enough = 110. / 3 * pow(3. / 14, 2) * 2.2 / pow(0.0125, 2);
  const struct load one = {.samples = enough, .files = 1};
  check("a>+5%", one, 1.00, 0, 0.0005, "A/A");
  check("a>+5%", one, 1.05, 0, 0.014, "just kept");
  check("a>+5%", one, 1.10, 0.95, 1, "twice the budget");
  const struct load four = {.samples = enough / 4, .files = 4};
  check("a>+5%", four, 1.00, 0, 0.0005, "A/A, 4 files");
  check("a>+5%", four, 1.05, 0, 0.014, "just kept, 4 files");
  check("a>+5%", four, 1.10, 0.93, 1, "twice the budget, 4 files");
  check("a>+5%", (struct load){.samples = 60, .files = 1}, 1, 0, 0.01,
        "A/A, 60 samples");
  check("a>+5%", (struct load){.samples = 6, .files = 1}, 1, 0, 0.01,
        "A/A, 6 samples");
  check("a>+0", (struct load){.samples = 300, .files = 1}, 1, 0, 0.014,
        "no growth at all, 300 samples");
  // Each file differs by 2 % for other reasons than sampling.
  const struct load times = {.jitter = 0.02, .files = 10};
  check("a>+5%", times, 1.00, 0, 0.0005, "A/A, times");
  check("a>+5%", times, 1.05, 0, 0.014, "just kept, times");
  check("a>+5%", times, 1.10, 0.95, 1, "twice the budget, times");
  const struct load both = {.samples = enough, .jitter = 0.02, .files = 10};
  check("a>+5%", both, 1.05, 0, 0.014, "just kept, times and sampling");
  check("a>+5%", both, 1.10, 0.95, 1, "twice the budget, times and sampling");
  // A limit of 0: one sample proves that there is a block.
  check("a>0", (struct load){.samples = 9, .files = 1}, 1, 0.999, 1, "a block");
  return failures > 0;
}
