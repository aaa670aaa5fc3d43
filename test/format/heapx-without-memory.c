// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the system refuses one mmap call while MProf writes the heapx
// profile. The test repeats this for each of the calls. The write returns
// ENOMEM or writes the complete profile, and leaves no temporary file.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app
// RUN: for f in ??.0; do %mprof_read $f | grep -q '^sample: 1 8 .*bytes=8' \
// RUN:   || exit 1; done
// RUN: for f in ??.1; do grep -q '^1 @ 0x' $f || exit 1; done
// RUN: ls ??.0 ??.1 && rm ??.[01] && test "$(ls -A)" = app

#define TEST_OPTIONS "heapx=1:symbolize=0"
#include "core.h"

#include "bucket/bucket.h"
#include "bucket/heapx.h"
#include "mprof/mprof.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <errno.h>
#include <stdio.h>

int main(void) {
  CHECK(mprof_process_ready());
  const mprof_pc stack[] = {(mprof_pc)main + 1, (mprof_pc)main + 2};
  struct mprof_bucket *b = mem_bucket(stack, 2, 8);
  int block;
  mprof_guard_enter();
  CHECK(mprof_thread_self(false) != NULL);
  mprof_heapx_alloc(b, &block, false);
  struct mprof_heapx_end e = {.is_last = mprof_heapx_is_last(&block),
                              .countdown = __mprof_heap_countdown};
  mprof_heapx_free(b, &e, false);
  mprof_guard_leave();
  int failures = 0;
  for (int debug = 0; debug < 2; debug++)
    for (int n = 1; n <= 30; n++) {
      char path[40];
      snprintf(path, sizeof(path), "%02d.%d", n, debug);
      mprof_os_fail_map(n);
      int error = mprof_write_profile("heapx", path, debug);
      mprof_os_fail_map(0);
      CHECK(error == 0 || error == ENOMEM);
      CHECK(error == 0 || n < 20);
      failures += error != 0;
    }
  CHECK(failures > 4);
  return 0;
}
