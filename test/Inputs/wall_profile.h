// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the wall profile of the own process, for tests that wait until it has
// certain samples.

#ifndef MPROF_TEST_INPUTS_WALL_PROFILE_H
#define MPROF_TEST_INPUTS_WALL_PROFILE_H

#include "check.h"

#include <mprof/mprof.h>

// Writes the profile as legacy text to wall.txt, and opens this file.
static inline FILE *wall_open(void) {
  CHECK_EQ(mprof_write_profile("wall", "wall.txt", 1), 0);
  FILE *f = fopen("wall.txt", "r");
  CHECK(f != NULL);
  return f;
}

// Returns the number of samples.
static inline long wall_samples(void) {
  char line[4096];
  unsigned long long cycles, count;
  long all = 0;
  FILE *f = wall_open();
  while (fgets(line, sizeof line, f))
    if (sscanf(line, "%llu %llu @", &cycles, &count) == 2)
      all += (long)count;
  fclose(f);
  return all;
}

// Returns whether the profile contains the name.
static inline int wall_has(const char *name) {
  static char text[1 << 20];
  FILE *f = wall_open();
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  return strstr(text, name) != NULL;
}

#endif // MPROF_TEST_INPUTS_WALL_PROFILE_H
