// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the disk is full, a write returns the system's error. The old file
// stays unchanged, and no temporary file is left.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: echo old > file && ./app
// RUN: echo old | cmp - file
// RUN: test "$(ls -A)" = "$(printf 'app\nfile')"

#include "core.h"

#include "file/outfile.h"

#include <errno.h>
#include <sys/resource.h>

static char data[200000];

int main(void) {
  // Beyond this size writes fail as on a full disk, but with EFBIG.
  const struct rlimit limit = {100000, 100000};
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  static struct mprof_outfile f;
  for (int gzip = 0; gzip <= 1; gzip++) {
    CHECK_EQ(mprof_outfile_open(&f, "file", gzip), 0);
    mprof_outfile_put(&f, data, sizeof(data));
    mprof_outfile_put(&f, "x", 1);
    CHECK_EQ(mprof_outfile_close(&f), -EFBIG);
  }
  return 0;
}
