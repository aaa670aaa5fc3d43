// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the cached names of an address are valid for one module only. Equal
// names share their memory. The cache is emptied when it exceeds its limit. A
// part that the compiler has split off has the name of its function.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"
#include "writer.h"

#include "process/process.h"
#include "symbolize/names.h"

#include <stdio.h>
#include <stdlib.h>

static const char reply[] = "inner\x1f/src/a.c\x1f"
                            "7\x1f"
                            "5\0"
                            "outer\x1f\x1f"
                            "0\x1f"
                            "0\0";

static void check_both(const struct mprof_names *n) {
  NEED(n != NULL);
  NEED(n->len == 2);
  CHECK_STR(n->v[0].function, "inner");
  CHECK_STR(n->v[0].file, "/src/a.c");
  CHECK_EQ(n->v[0].line, 7);
  CHECK_EQ(n->v[0].start_line, 5);
  CHECK_STR(n->v[1].function, "outer");
  CHECK_STR(n->v[1].file, "");
}

static void find_by_module(void) {
  CHECK(mprof_names_find(0x1000, 1) == NULL);
  check_both(mprof_names_keep(0x1000, 1, reply));
  check_both(mprof_names_find(0x1000, 1));
  CHECK(mprof_names_find(0x1000, 2) == NULL);
  CHECK(mprof_names_find(0x1001, 1) == NULL);
  const struct mprof_names *none = mprof_names_keep(0x1000, 2, "");
  NEED(none != NULL);
  CHECK_EQ(none->len, 0);
  CHECK(mprof_names_find(0x1000, 2) == none);
  CHECK(mprof_names_find(0x1000, 1) == NULL);
}

static void share_strings(void) {
  const struct mprof_names *a = mprof_names_keep(0x2000, 1, reply);
  const struct mprof_names *b = mprof_names_keep(0x2001, 1, reply);
  NEED(a != NULL && b != NULL);
  CHECK(a->v[0].function == b->v[0].function);
  CHECK(a->v[0].file == b->v[0].file);
}

static void drop_suffixes(void) {
  static const char *const parts[] = {"f.cold\x1f"
                                      "a.cold\x1f"
                                      "0\x1f"
                                      "0\0",
                                      "f [clone .cold]\x1f"
                                      "a.cold\x1f"
                                      "0\x1f"
                                      "0\0",
                                      "f (.cold)\x1f"
                                      "a.cold\x1f"
                                      "0\x1f"
                                      "0\0"};
  for (size_t i = 0; i < 3; i++) {
    const struct mprof_names *n = mprof_names_keep(0x3000 + i, 1, parts[i]);
    NEED(n != NULL && n->len == 1);
    CHECK_STR(n->v[0].function, "f");
    CHECK_STR(n->v[0].file, "a.cold");
  }
}

// Keeps n different names of 10,000 bytes.
static void keep_long_names(unsigned n) {
  static char name[10010];
  for (unsigned i = 0; i < n; i++) {
    snprintf(name, sizeof(name),
             "%010000u\x1f??\x1f"
             "0\x1f"
             "0",
             i);
    name[sizeof(name) - 1] = '\0';
    CHECK(mprof_names_keep(0x10000 + i, 1, name) != NULL);
  }
}

static void stay_below_limit(void) {
  keep_long_names(1000); // 10 MB
  mprof_names_trim(0);
  CHECK(mprof_names_find(0x10000, 1) != NULL);
  keep_long_names(2500); // 25 MB
  mprof_names_trim(0);
  CHECK(mprof_names_find(0x10000, 1) != NULL);
  mprof_names_trim(1); // after an unload, less stays
  CHECK(mprof_names_find(0x10000, 1) == NULL);
  keep_long_names(5000); // 50 MB
  mprof_names_trim(1);
  CHECK(mprof_names_find(0x10000, 1) == NULL);
  CHECK(mprof_names_bytes() < 1 << 20);
}

int main(void) {
  CHECK(mprof_process_ready());
  writer_enter();
  find_by_module();
  share_strings();
  drop_suffixes();
  stay_below_limit();
  writer_leave();
  return 0;
}
