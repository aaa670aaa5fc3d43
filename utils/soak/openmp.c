// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OpenMP threads run loops and critical sections.

#include "soak.h"

#include <unistd.h>

enum { STEPS = 2000 };

static int round_of_loops(void) {
  long sum = 0, count = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
  for (int i = 0; i < STEPS; i++)
    sum += (soak_work((unsigned long)i) | 1) != 0;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < STEPS; i++) {
#pragma omp critical
    count++;
  }
  usleep(10000); // OpenMP's threads wait meanwhile
  return sum == STEPS && count == STEPS;
}

int main(int argc, char **argv) { return soak_run(argc, argv, round_of_loops); }
