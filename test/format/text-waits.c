// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: go tool pprof reads the same counts and delays from the legacy texts
// of waits as from the protobuf files. This holds for any rate, because the
// values in the texts are already scaled.
//
// REQUIRES: go, go119
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app
// RUN: FileCheck %s --check-prefix=BLOCK < block.txt
// RUN: FileCheck %s --check-prefix=MUTEX < mutex.txt
// RUN: for kind in block mutex; do for go in %go %go119; do \
// RUN:   $go tool pprof -raw app $kind.txt > raw && FileCheck %s < raw && \
// RUN:   $go tool pprof -top app $kind.txt | grep ' 0 .* root$' && \
// RUN:   sed -n 's/^ *\([0-9][0-9]* *[0-9][0-9]*\): .*/\1/p' raw > text && \
// RUN:   $go tool pprof -raw $kind.pb.gz \
// RUN:     | sed -n 's/^ *\([0-9][0-9]* *[0-9][0-9]*\): .*/\1/p' > pb && \
// RUN:   test $(wc -l < pb) = 3 && diff pb text || exit 1; done; done
//
// BLOCK: {{^}}--- contention:{{$}}
// BLOCK-NEXT: {{^}}cycles/second=1999999999{{$}}
// BLOCK-NEXT: {{^}}8000000001 3 @ 0x[[#%x,]] 0x[[#%x,]] 0x[[#%x,]]{{$}}
// BLOCK-NEXT: {{^}}#	0x[[#%x,]]	pthread_mutex_lock{{$}}
// BLOCK-NEXT: {{^}}#	0x[[#%x,]]	leaf	{{.*}}text-waits.c:[[#]]{{$}}
// BLOCK-NEXT: {{^}}#	0x[[#%x,]]	root	{{.*}}text-waits.c:[[#]]{{$}}
// BLOCK-EMPTY:
// BLOCK-NEXT: {{^}}123456789 2 @
// BLOCK: {{^}}7 1 @
// BLOCK: {{^}}#	[truncated]{{$}}
// BLOCK: {{^}}# MProf
// BLOCK: {{^}}# block_rate = 1000{{$}}
// BLOCK: {{^}}--- Memory map: ---{{$}}
// BLOCK-NEXT: {{^}}{{[0-9a-f]+-[0-9a-f]+ }}
//
// MUTEX: {{^}}--- mutex:{{$}}
// MUTEX-NEXT: {{^}}cycles/second=1999999999{{$}}
// MUTEX-NEXT: {{^}}sampling period=1{{$}}
// MUTEX-NEXT: {{^}}8000000001 3 @
// MUTEX: {{^}}# mutex_fraction = 7{{$}}
//
// CHECK: PeriodType: contentions count
// CHECK: Period: 1{{$}}
// CHECK: contentions/count delay/nanoseconds

#define TEST_OPTIONS "block_rate=1000:mutex_fraction=7"
#include "waits.h"

#include "bucket/bucket.h"
#include "mprof/mprof.h"
#include "sys/clock.h"
#include "unwind/unwind.h"

#include <pthread.h>

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }

static void fill(int type, mprof_pc op) {
  const mprof_pc stack[] = {op, (mprof_pc)leaf + 1, (mprof_pc)root + 1};
  count_waits(bucket_of(wait_key(type, 0, 0x1000, stack, 3)), 3, 8000000001);
  count_waits(bucket_of(wait_key(type, 0, 0x1000, stack + 1, 2)), 2, 123456789);
  struct mprof_bucket_key key = wait_key(type, 0, 0x1000, stack, 1);
  key.end = MPROF_STACK_CUT_DEPTH;
  count_waits(bucket_of(key), 1, 7);
}

int main(void) {
  waits_start();
  mprof_clock_set(no_time, 1999999999); // makes rounding necessary
  fill(MPROF_BUCKET_BLOCK, OP_PC(pthread_mutex_lock));
  fill(MPROF_BUCKET_MUTEX, OP_PC(pthread_mutex_unlock));
  CHECK_EQ(mprof_write_profile("block", "block.txt", 1), 0);
  CHECK_EQ(mprof_write_profile("block", "block.pb.gz", 0), 0);
  CHECK_EQ(mprof_write_profile("mutex", "mutex.txt", 1), 0);
  CHECK_EQ(mprof_write_profile("mutex", "mutex.pb.gz", 0), 0);
  return 0;
}
