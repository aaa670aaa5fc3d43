// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof_write_profile writes either format, refuses what it does not
// know, says what the system refused, and leaves errno and the old file alone.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o app && ./app
// RUN: gzip -t heap && gzip -t allocs
// RUN: head -1 text | grep -q '^heap profile: 0: 0 \[0: 1\] @ heap/1048576$'
// RUN: test "$(ls -A | tr '\n' ' ')" = "allocs app heap text "

#include "core.h"
#include "mprof/mprof.h"
#include "writer.h"

#include <errno.h>

int main(void) {
  errno = 77;
  CHECK_EQ(mprof_write_profile("heap", "heap", 0), 0);
  CHECK_EQ(mprof_write_profile("allocs", "allocs", 0), 0);
  CHECK_EQ(mprof_write_profile("heap", "text", 1), 0);
  CHECK_EQ(mprof_write_profile("blocks", "x", 0), EINVAL);
  CHECK_EQ(mprof_write_profile("", "x", 0), EINVAL);
  CHECK_EQ(mprof_write_profile(NULL, "x", 0), EINVAL);
  CHECK_EQ(mprof_write_profile("heap", NULL, 0), EINVAL);
  CHECK_EQ(mprof_write_profile("heap", "x", 2), EINVAL);
  CHECK_EQ(mprof_write_profile("heap", "x", -1), EINVAL);
  CHECK_EQ(mprof_write_profile("heap", "missing/x", 0), ENOENT);
  CHECK_EQ(mprof_write_profile("heap", "/dev/null", 1), EOPNOTSUPP);
  // Each mapping that a writer makes may fail.
  for (int debug = 0; debug <= 1; debug++) {
    int error = ENOMEM;
    for (int n = 1; error != 0; n++) {
      CHECK(n < 50);
      mprof_os_fail_map(n);
      error = mprof_write_profile("heap", "heap", debug);
      mprof_os_fail_map(0);
      CHECK(error == 0 || error == ENOMEM);
    }
  }
  CHECK_EQ(mprof_write_profile("heap", "heap", 0), 0);
  CHECK_EQ(errno, 77);
  return 0;
}
