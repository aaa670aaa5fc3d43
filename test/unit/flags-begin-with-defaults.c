// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the options begin with the defaults that help=1 and messages show.
// The other tests of this folder change the options in core.h, which this test
// does not include.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t
// RUN: env -u MPROF_OPTIONS %t | FileCheck %s
// CHECK-NOT: differs
// CHECK: compared

#include "options/flags.h"
#include "options/flags_table.h"

#include <stdio.h>
#include <string.h>

static bool has_default(const struct mprof_option *o) {
  const void *value = (const char *)&mprof_flags + o->offset;
  if (o->kind == MPROF_OPTION_BOOL)
    return *(const bool *)value == o->value;
  if (o->kind == MPROF_OPTION_UINT)
    return *(const uint64_t *)value == o->value;
  return strcmp(value, o->text) == 0;
}

int main(void) {
  for (int i = 0; i < MPROF_OPTION_COUNT; i++)
    if (!has_default(&mprof_options[i]))
      printf("%s differs\n", mprof_options[i].name);
  printf("compared %d options\n", MPROF_OPTION_COUNT);
  return 0;
}
