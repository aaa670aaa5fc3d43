// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the system refuses one mmap call while MProf writes profiles of all
// kinds at exit. The test repeats this for each of the calls. The process still
// ends normally and prints a message. It leaves no temporary file, and each
// profile file is complete.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app \
// RUN:   -Wl,--defsym=mprof_intercept_is_unwanted=main
// RUN: for debug in 0 1; do for n in $(seq 1 80); do \
// RUN:   %run{symbolize=0:format=$debug} ./app $n 2> err; \
// RUN:   test $? = 7 && grep -q '^mprof: ' err || exit 1; \
// RUN: done; done
// RUN: grep -c threadcreate.txt err && not grep 'out of memory' err
// RUN: ls | grep -c 'threadcreate.pb.gz$'
// RUN: test -z "$(ls -A | grep -v '\.txt$\|\.pb\.gz$\|^app$\|^err$')"
// RUN: %mprof_read *.pb.gz > /dev/null
// RUN: for f in mprof.app.*[0-9].txt; do \
// RUN:   tail -1 $f | grep -q '^SUMMARY' || exit 1; done

#define TEST_OPTIONS "report=1:profile=1:block_rate=1:mutex_fraction=1"
#include "waits.h"

#include "sys/os.h"

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  waits_start();
  const mprof_pc stack[] = {(mprof_pc)main + 1, (mprof_pc)main + 2};
  mem_bucket(stack, 2, 100)->mem.active.allocs = 1;
  count_waits(block_bucket(0x1000, stack, 2), 2, 100);
  count_waits(mutex_bucket(0x1000, stack, 2), 1, 100);
  thread_bucket(3, stack, 2);
  mprof_os_fail_map(atoi(argv[1]));
  return 7;
}
