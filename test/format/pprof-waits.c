// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: go tool pprof reads the contentions and the delay, in nanoseconds,
// from block and mutex profiles. Stacks begin with the function that waited or
// unlocked. The lock and the kind of wait are labels.
//
// REQUIRES: go, go119
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app
// RUN: %go tool pprof -raw block.pb.gz | FileCheck %s
// RUN: %go119 tool pprof -raw block.pb.gz | FileCheck %s
// RUN: %go tool pprof -raw mutex.pb.gz | FileCheck %s --check-prefix=MUTEX
// RUN: %go119 tool pprof -raw mutex.pb.gz | FileCheck %s --check-prefix=MUTEX
// RUN: %go tool pprof -top block.pb.gz | FileCheck %s --check-prefix=TOP
// RUN: %go119 tool pprof -top block.pb.gz | FileCheck %s --check-prefix=TOP
// RUN: %go tool pprof -tags block.pb.gz | FileCheck %s --check-prefix=TAGS
// RUN: %go119 tool pprof -tags block.pb.gz | FileCheck %s --check-prefix=TAGS
// RUN: %go tool pprof -top -tagfocus=lock=queue block.pb.gz \
// RUN:   | FileCheck %s --check-prefix=QUEUE
// RUN: %mprof_read --symbolize block.pb.gz | FileCheck %s --check-prefix=READ
// RUN: %mprof_read --symbolize mutex.pb.gz \
// RUN:   | FileCheck %s --check-prefix=READMUTEX
//
// CHECK: Comment: MProf
// CHECK: Comment: command: ./app
// CHECK: Comment: block_rate: 1000
// CHECK: PeriodType: contentions count
// CHECK: Period: 1{{$}}
// CHECK: contentions/count delay/nanoseconds{{$}}
// CHECK: 3 4000000000: [[LOCK:[0-9]+]] [[LEAF:[0-9]+]] [[ROOT:[0-9]+]]
// CHECK-NEXT: kind:[mutex] lock:[queue (0x1000)]
// CHECK: 2 1500: [[LOCK]] [[LEAF]] [[ROOT]]
// CHECK-NEXT: kind:[mutex] lock:[0x2000]
// CHECK: 1 3: [[SLEEP:[0-9]+]] [[CUT:[0-9]+]]
// CHECK-NEXT: kind:[sleep]
// CHECK-NOT: lock:
// CHECK: Locations
// CHECK-DAG: {{ }}[[LOCK]]: 0x{{[0-9a-f]+}} M={{[0-9]+}} pthread_mutex_lock
// CHECK-DAG: {{ }}[[LEAF]]: 0x{{[0-9a-f]+}} M=1 leaf {{.*}}pprof-waits.c
// CHECK-DAG: {{ }}[[ROOT]]: 0x{{[0-9a-f]+}} M=1 root {{.*}}pprof-waits.c
// CHECK-DAG: {{ }}[[SLEEP]]: 0x{{[0-9a-f]+}} M={{[0-9]+}} usleep
// CHECK-DAG: {{ }}[[CUT]]: 0x0 M={{[0-9]+}} [truncated]
//
// MUTEX: Comment: mutex_fraction: 7
// MUTEX: PeriodType: contentions count
// MUTEX: Period: 1{{$}}
// MUTEX: contentions/count delay/nanoseconds{{$}}
// MUTEX: 14 1000000000: [[UNLOCK:[0-9]+]]
// MUTEX-NEXT: kind:[mutex] lock:[queue (0x1000)]
// MUTEX: 0 2: [[LOST:[0-9]+]]
// MUTEX-DAG: {{ }}[[UNLOCK]]: {{.*}} pthread_mutex_unlock
// MUTEX-DAG: {{ }}[[LOST]]: {{.*}} M=1 mprof::_LostContendedRuntimeLock
//
// By default pprof shows the delay, with the function that waited on top.
// TOP: Type: delay
// TOP: Showing nodes accounting for 4s, 100% of 4s total
// TOP: 4s 100% 100% 4s 100% pthread_mutex_lock
// TOP: leaf
// TAGS: kind: Total
// TAGS: mutex
// TAGS: sleep
// TAGS: lock: Total
// TAGS: queue (0x1000)
// TAGS: 0x2000
// QUEUE: 4s 100% 100% 4s 100% pthread_mutex_lock
//
// READ: sample_types: contentions/count delay/nanoseconds{{$}}
// READ-NEXT: period: contentions/count 1{{$}}
// drop_frames has no function that locks or waits, and there is no default
// type.
// READ-NEXT: drop_frames: my_lock(\[abi:.*\])?(<.*>)?{{$}}
// READ-NEXT: time_nanos: {{[0-9]+$}}
// READ: sample: 3 4000000000 kind=mutex lock=queue (0x1000) : pthread_mutex_lock <- leaf <- root{{$}}
// READ: sample: 2 1500 kind=mutex lock=0x2000 : pthread_mutex_lock <- leaf <- root{{$}}
// READ: sample: 1 3 kind=sleep : usleep <- [truncated]{{$}}
// READMUTEX: sample: 14 1000000000 kind=mutex lock=queue (0x1000) : pthread_mutex_unlock <- leaf <- root{{$}}
// READMUTEX: sample: 0 2 kind=mutex : mprof::_LostContendedRuntimeLock{{$}}

#define TEST_OPTIONS "block_rate=1000:mutex_fraction=7"
#include "waits.h"

#include "bucket/bucket.h"
#include "lock_wait/hooked.h"
#include "mprof/mprof.h"
#include "symbolize/wrappers.h"
#include "unwind/unwind.h"

#include <pthread.h>
#include <unistd.h>

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }

int main(void) {
  waits_start();
  const char *const names[] = {"my_lock"};
  struct __mprof_wrappers node = {.names = names, .count = 1};
  __mprof_register_wrappers(&node);
  mprof_pc stack[] = {OP_PC(pthread_mutex_lock), (mprof_pc)leaf + 1,
                      (mprof_pc)root + 1};
  count_waits(block_bucket(0x1000, stack, 3), 3, 8000000000);
  count_waits(block_bucket(0x2000, stack, 3), 2, 3000);
  struct mprof_bucket_key key = wait_key(MPROF_BUCKET_BLOCK, MPROF_KIND_sleep,
                                         0, (mprof_pc[]){OP_PC(usleep)}, 1);
  key.end = MPROF_STACK_CUT_CHAIN;
  count_waits(bucket_of(key), 0.25, 7); // 3.5 ns
  stack[0] = OP_PC(pthread_mutex_unlock);
  count_waits(mutex_bucket(0x1000, stack, 3), 14, 2000000000);
  mprof_pc lost = OP_PC(mprof_lost_contended_runtime_lock);
  count_waits(mutex_bucket(0, &lost, 1), 0.25, 4);
  CHECK_EQ(mprof_name_lock((void *)0x1000, "queue"), 0);
  CHECK_EQ(mprof_write_profile("block", "block.pb.gz", 0), 0);
  CHECK_EQ(mprof_write_profile("mutex", "mutex.pb.gz", 0), 0);
  return 0;
}
