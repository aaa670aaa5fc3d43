// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: at exit, each profile that has data or whose rate is on is written to
// a file. A single line names all files with their counts. If no rate of waits
// is set, there are only a heap profile, a threadcreate profile and a report.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o noted
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app \
// RUN:   -Wl,--defsym=mprof_intercept_is_unwanted=main
// RUN: %run{block_rate=1:mutex_fraction=1} ./app all 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALL
// ALL: {{^}}mprof: wrote mprof.app.[[PID:[0-9]+]].*: heap (0 samples), block (4 waits, 2 stacks), mutex (1 contention, 1 stack), threadcreate (4 threads, 1 live, 2 stacks) and txt; incomplete: truncated_waits 1{{$}}
// ALL-NOT: mprof
// RUN: gzip -t mprof.app.*.block.pb.gz && gzip -t mprof.app.*.mutex.pb.gz
// RUN: gzip -t mprof.app.*.threadcreate.pb.gz && rm mprof.app.*
//
// Without the interceptors, a note follows. The report has the note if the line
// has no room for it.
// RUN: %run{block_rate=1:report=0} ./noted threads 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTE
// RUN: %run{block_rate=1:report=0} ./noted 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTE
// NOTE: mprof: wrote {{.*}}; code without MProf is not counted: link with -fmprof or mprof-program.cfg{{$}}
// RUN: %run{block_rate=1:mutex_fraction=1} ./noted all 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FULL
// FULL: {{^}}mprof: wrote 5 files: mprof.noted.[[PID:[0-9]+]].*; incomplete: see the report{{$}}
// RUN: grep 'Not counted: allocations of code without MProf' mprof.noted.*.txt
// RUN: rm mprof.noted.*
//
// RUN: %run{format=1:report=0:log_path=x:block_rate=1} \
// RUN:   ./app all 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: mprof: wrote x.[[PID:[0-9]+]].*: heap.txt (0 samples), block.txt (4 waits, 2 stacks), mutex.txt (1 contention, 1 stack) and threadcreate.txt (4 threads, 1 live, 2 stacks);
// RUN: grep -q '^--- contention:' x.*.block.txt
// RUN: grep -q '^--- mutex:' x.*.mutex.txt
// RUN: grep -q '^threadcreate profile: total 4$' x.*.threadcreate.txt && rm x.*
//
// If anything was recorded, a profile is written if its rate is on, or if it
// has samples from before the rate was turned off. With threadcreate=0 the
// profile of threads is not written.
// RUN: %run{block_rate=1:report=0} ./app threads 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EMPTY
// EMPTY: wrote mprof.app.{{[0-9]+}}.*: heap (0 samples), block (0 waits, 0 stacks) and threadcreate ({{[^()]*}}){{$}}
// RUN: %run{threadcreate=0:report=0} ./app all 2>&1 \
// RUN:   | FileCheck %s --check-prefix=THREADS
// THREADS: wrote mprof.app.{{[0-9]+}}.*: heap (0 samples), block (4 waits, 2 stacks) and mutex (1 contention, 1 stack);
// RUN: %run{heap=1} ./app threads 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: heap{{[^()]*}} (0 samples{{[^()]*}}), {{[^(),]*}}threadcreate{{[^()]*}} ({{[^()]*}}) and {{[^(),]*}}txt{{$}}
//
// With heap_rate=0 the heap profile is not written beside others.
// RUN: %run{heap_rate=0:block_rate=1:report=0} ./app threads 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-RATE
// NO-RATE: mprof: wrote mprof.app.{{[0-9]+}}.block.pb.gz (0 waits, 0 stacks) and
// RUN: %run{heap_rate=0:report=0} ./app threads 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALONE
// ALONE: heap.pb.gz (0 samples: heap_rate=0) and
// RUN: %run{heap_rate=0:report=0} ./app 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTHING
// NOTHING: mprof: wrote nothing: nothing was recorded; the heap profile is empty: heap_rate=0{{$}}
//
// With profile=0 the report has the numbers. With heap=0 the heap profile is
// not written beside others. Whether the line has room for the whole names
// depends on the number of digits of the process's id.
// RUN: %run{profile=0:heap=0:block_rate=1} ./app all 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REPORT
// REPORT: mprof: wrote mprof.app.{{[0-9]+}}.txt (4 waits, 2 stacks; 1 contention, 1 stack; 4 threads, 1 live, 2 stacks);
// RUN: %run{report=0:heap=0:block_rate=1} ./app all 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOHEAP
// NOHEAP: mprof: wrote mprof.app.{{[0-9]+}}.{{(\*: )?}}block{{(.pb.gz)?}} (4 waits,
// RUN: %run{heap=0} ./app threads 2>&1 | FileCheck %s --check-prefix=OFF
// OFF: heap.pb.gz (0 samples: heap=0),
//
// Of a long path, the line shows the end.
// RUN: mkdir -p $(printf %%0200d 0)/$(printf %%0200d 1)
// RUN: %run{log_path=$(printf %%0200d 0)/$(printf %%0200d 1)/x:block_rate=1} \
// RUN:   ./app all 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: mprof: wrote 5 files: ...{{0+1/x.[0-9]+}}.*; incomplete: see the report{{$}}

#define TEST_OPTIONS "report=1:profile=1"
#include "waits.h"

#include "bucket/bucket.h"
#include "lock_wait/hooked.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind.h"

int main(int argc, char **argv) {
  waits_start();
  mprof_guard_enter();
  CHECK(mprof_thread_self(false) != NULL);
  mprof_guard_leave();
  const mprof_pc stack[] = {(mprof_pc)main + 1, (mprof_pc)main + 2};
  if (argc > 1 && strcmp(argv[1], "all") == 0) {
    count_waits(block_bucket(0x1000, stack, 2), 2, 100);
    count_waits(block_bucket(0x2000, stack, 2), 1, 100);
    struct mprof_bucket_key key =
        wait_key(MPROF_BUCKET_BLOCK, MPROF_KIND_io, 0, stack, 1);
    key.end = MPROF_STACK_CUT_CHAIN;
    count_waits(bucket_of(key), 1, 1);
    count_waits(mutex_bucket(0x1000, stack, 2), 1, 100);
  }
  if (argc > 1)
    thread_bucket(3, stack, 2);
  return 0;
}
