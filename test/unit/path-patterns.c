// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the option log_path is expanded to file names that are in the given
// directory and differ for each process. If log_path is only a directory, the
// files have their usual name. A message reports unknown % sequences.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o 'odd name'
// RUN: './odd name' 2>&1 | FileCheck %s
// CHECK: mprof: unknown %q in option log_path 'a%q%p' is not replaced; the known patterns are %p,
// CHECK-SAME: %e, %h, %t and %%
// CHECK: mprof: unknown % at the end in option log_path 'a.%p%' is not replaced

#include "core.h"

#include "file/outfile.h"
#include "sys/message.h"

#include <errno.h>
#include <unistd.h>

static char want[2048], got[1024];

static void expect(const char *pattern, const char *text) {
  snprintf(want, sizeof(want), text, getpid());
  CHECK_EQ(mprof_path_expand(got, sizeof(got), pattern), 0);
  CHECK_STR(got, want);
}

int main(void) {
  mprof_message_init();
  expect("a.%p", "a.%d");
  expect("a", "a.%d");
  expect("", "mprof.odd name.%d");
  expect("d/", "d/mprof.odd name.%d");
  snprintf(want, sizeof(want), "/x/%d/mprof.odd name.%d", getpid(), getpid());
  CHECK_EQ(mprof_path_expand(got, sizeof(got), "/x/%p/"), 0);
  CHECK_STR(got, want);
  expect("%%p", "%%p.%d");
  expect("%p%%", "%d%%");
  expect("/x/%e.%p", "/x/odd name.%d");
  expect("a%q%p", "a%%q%d");
  expect("a.%p%", "a.%d%%");

  char host[256];
  CHECK_EQ(gethostname(host, sizeof(host)), 0);
  CHECK_EQ(mprof_path_expand(got, sizeof(got), "%h:%p"), 0);
  CHECK(strncmp(got, host, strlen(host)) == 0 && got[strlen(host)] == ':');

  CHECK_EQ(mprof_path_expand(got, sizeof(got), "%t.%p"), 0);
  CHECK(strncmp(got, "20", 2) == 0 && got[8] == 'T' && got[15] == '.');

  char tight[8];
  CHECK_EQ(mprof_path_expand(tight, sizeof(tight), "1234567.%p"),
           -ENAMETOOLONG);
  CHECK_EQ(mprof_path_expand(tight, sizeof(tight), "abcdefg"), -ENAMETOOLONG);
  CHECK_EQ(mprof_path_expand(tight, sizeof(tight), "d/"), -ENAMETOOLONG);
  return 0;
}
