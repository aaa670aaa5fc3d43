// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a process has at most max_labels sets of labels. A thread that needs
// another set gets the overflow set, and MProf counts this event. Existing sets
// can still be used.
//
//
// RUN: %unit -D_GNU_SOURCE -DMOST=100 -DTEST_OPTIONS='"max_labels=100"' %s %rtlib -o %t && %t
// RUN: %unit -D_GNU_SOURCE -DMOST=65000 -DTEST_OPTIONS='"max_labels=65000"' %s %rtlib -o %t && %t

#include "core.h"

#include "mprof/mprof.h"
#include "sys/stats.h"
#include "thread/labels.h"

#include <errno.h>

static int set(const char *key, int i) {
  char value[16];
  snprintf(value, sizeof(value), "%d", i);
  mprof_labels_swap(NULL);
  return mprof_label_set(key, value);
}

static void check_overflow(void) {
  char text[64];
  mprof_labels_text(mprof_labels_get(), text, sizeof(text));
  CHECK_STR(text, "{\"mprof\":\"labels overflow\"}");
}

int main(void) {
  for (int i = 0; i < MOST - 1; i++)
    CHECK_EQ(set("k", i), 0);
  CHECK_EQ(set("last", 1), 0);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_labels_overflow), 0);
  CHECK_EQ(set("k", MOST), ENOSPC);
  check_overflow();
  CHECK_EQ(mprof_label_set("more", "x"), ENOSPC);
  check_overflow();
  CHECK_EQ(mprof_stat_get(MPROF_STAT_labels_overflow), 2);
  for (int i = 0; i < MOST - 1; i++)
    CHECK_EQ(set("k", i), 0);
  CHECK_EQ(set("last", 1), 0);
  CHECK_EQ(mprof_labels_get()->id, MOST + 1);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_labels_overflow), 2);
  return 0;
}
