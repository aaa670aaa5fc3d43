// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the memory for sets of labels is bounded, even if each set is as long
// as possible. When the memory is full, existing sets can still be used.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "mprof/mprof.h"
#include "sys/stats.h"
#include "thread/labels.h"

enum { PAIRS = 30 };

static char value[1025];

// Sets label i and returns the number of labels that the thread then has.
static int set(int i) {
  static const char keys[] = "abcdefghijklmnopqrstuvwxyzABCDEF";
  static char names[PAIRS][2];
  const char *pairs[2 * PAIRS + 1] = {0};
  for (int k = 0; k < PAIRS; k++) {
    names[k][0] = keys[k];
    pairs[2 * k] = names[k];
    pairs[2 * k + 1] = value;
  }
  memset(value, 'v', 1024);
  value[i % 1000] = (char)('0' + i / 1000);
  mprof_labels_swap(NULL);
  mprof_labels_add(pairs);
  return mprof_labels_get()->len;
}

int main(void) {
  int n = 0;
  while (n < 4000 && set(n) == PAIRS)
    n++;
  CHECK(n > 400 && n < 600); // 31 KiB each, of 16 MiB
  CHECK_EQ(mprof_stat_get(MPROF_STAT_labels_overflow), 1);
  CHECK_STR(mprof_labels_get()->v[0].value, "labels overflow");
  for (int i = 0; i < n; i++)
    CHECK_EQ(set(i), PAIRS);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_labels_overflow), 1);
  return 0;
}
