// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof_write_profile writes protobuf or legacy text and returns EINVAL
// for unknown profiles and formats. If the file cannot be written, it returns
// the system's error and leaves no partial file. It never changes errno.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app
// RUN: gzip -t heap && gzip -t allocs
// RUN: head -1 text | grep -q '^heap profile: 0: 0 \[0: 1\] @ heap/1048576$'
// RUN: gzip -t block && gzip -t mutex && gzip -t threadcreate
// RUN: head -1 block.txt | grep -q '^--- contention:$'
// RUN: head -1 mutex.txt | grep -q '^--- mutex:$'
// RUN: head -1 threadcreate.txt | grep -q '^threadcreate profile: total 1$'
// A file that is written is complete, whatever failed. The wait lasts one tick
// of the processor's clock.
// RUN: for f in ??.block.0 ??.mutex.0; do %mprof_read $f \
// RUN:   | grep '^sample: 1 [0-9]* .*: 0x[0-9a-f]* 0x[0-9a-f]*$' || exit 1; done
// RUN: for f in ??.block.1 ??.mutex.1; do \
// RUN:   grep '^1 1 @ 0x[0-9a-f]* 0x[0-9a-f]*$' $f || exit 1; done
// RUN: gzip -t 30.heap.0 30.threadcreate.0 --suffix .0 && rm ??.*.[01]
// RUN: test "$(ls -A | xargs)" = "allocs app block block.txt heap mutex mutex.txt text threadcreate threadcreate.txt"

#include "waits.h"

#include "bucket/bucket.h"
#include "mprof/mprof.h"
#include "sys/os.h"

#include <errno.h>

int main(void) {
  errno = 77;
  CHECK_EQ(mprof_write_profile("heap", "heap", 0), 0);
  CHECK_EQ(mprof_write_profile("allocs", "allocs", 0), 0);
  CHECK_EQ(mprof_write_profile("heap", "text", 1), 0);
  CHECK_EQ(mprof_write_profile("blocks", "x", 0), EINVAL);
  CHECK_EQ(mprof_write_profile("heapx", "x", 0), ENOTSUP); // heapx=0
  CHECK_EQ(mprof_write_profile("", "x", 0), EINVAL);
  CHECK_EQ(mprof_write_profile(NULL, "x", 0), EINVAL);
  CHECK_EQ(mprof_write_profile("heap", NULL, 0), EINVAL);
  CHECK_EQ(mprof_write_profile("heap", "x", 2), EINVAL);
  CHECK_EQ(mprof_write_profile("heap", "x", -1), EINVAL);
  CHECK_EQ(mprof_write_profile("heap", "missing/x", 0), ENOENT);
  CHECK_EQ(mprof_write_profile("heap", "/dev/null", 1), EOPNOTSUPP);
  CHECK_EQ(mprof_write_profile("block", "block", 0), 0);
  CHECK_EQ(mprof_write_profile("block", "block.txt", 1), 0);
  CHECK_EQ(mprof_write_profile("mutex", "mutex", 0), 0);
  CHECK_EQ(mprof_write_profile("mutex", "mutex.txt", 1), 0);
  CHECK_EQ(mprof_write_profile("threadcreate", "threadcreate", 0), 0);
  CHECK_EQ(mprof_write_profile("threadcreate", "threadcreate.txt", 1), 0);
  CHECK_EQ(mprof_write_profile("mutex", "missing/x", 0), ENOENT);
  CHECK_EQ(mprof_write_profile("threadcreate", "missing/x", 1), ENOENT);
  // Any mapping that a writer makes may fail.
  const mprof_pc stack[] = {(mprof_pc)main + 1, (mprof_pc)main + 2};
  for (int type = MPROF_BUCKET_BLOCK; type <= MPROF_BUCKET_THREAD; type++)
    count_waits(bucket_of(wait_key(type, 0, 0x1000, stack, 2)), 1, 1);
  static const char *const names[] = {"heap", "block", "mutex", "threadcreate"};
  for (int i = 0; i < 8; i++)
    for (int n = 1; n <= 30; n++) {
      char path[40];
      snprintf(path, sizeof(path), "%02d.%s.%d", n, names[i / 2], i % 2);
      mprof_os_fail_map(n);
      int error = mprof_write_profile(names[i / 2], path, i % 2);
      mprof_os_fail_map(0);
      CHECK(error == 0 || error == ENOMEM);
      CHECK(error == 0 || n < 20);
    }
  CHECK_EQ(mprof_write_profile("heap", "heap", 0), 0);
  CHECK_EQ(errno, 77);
  return 0;
}
