// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the texts of all counters have a singular and a plural form.
//
// RUN: %unit %s %rtlib -o %t && %t

#include "core.h"

#include "sys/stats.h"

static const char *text_of(char text[256], enum mprof_stat s, uint64_t n) {
  struct mprof_text t = {.buf = text, .cap = 256};
  mprof_stat_text(&t, s, n);
  CHECK(t.len < 255);
  CHECK(strpbrk(text, "{|}") == NULL);
  return text;
}

int main(void) {
  char one[256], two[256];
  for (int s = 0; s < MPROF_STAT_COUNT; s++)
    CHECK(strcmp(text_of(one, s, 1), text_of(two, s, 2)) != 0);
  CHECK_STR(text_of(one, MPROF_STAT_libraries_uncounted, 1),
            "library whose allocations and frees are not counted, because it "
            "was loaded with RTLD_DEEPBIND and calls libc's malloc directly");
  CHECK_STR(text_of(two, MPROF_STAT_libraries_uncounted, 2),
            "libraries whose allocations and frees are not counted, because "
            "they were loaded with RTLD_DEEPBIND and call libc's malloc "
            "directly");
  CHECK_STR(text_of(two, MPROF_STAT_samples, 0), "allocations sampled");
  return 0;
}
