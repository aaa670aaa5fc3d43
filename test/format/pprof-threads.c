// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: go tool pprof reads the threadcreate profile: threads by the stack
// that created them, with the names of live threads as labels. Threads whose
// creation MProf has not seen are under a pseudo frame, which pprof shows.
//
// REQUIRES: go, go119
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: ./app
// RUN: %go tool pprof -raw threads.pb.gz | FileCheck %s
// RUN: %go119 tool pprof -raw threads.pb.gz | FileCheck %s
// RUN: %go tool pprof -top threads.pb.gz | FileCheck %s --check-prefix=TOP
// RUN: %go119 tool pprof -top threads.pb.gz | FileCheck %s --check-prefix=TOP
// RUN: %mprof_read --symbolize threads.pb.gz \
// RUN:   | FileCheck %s --check-prefix=READ
// RUN: FileCheck %s --check-prefix=TEXT < threads.txt
// RUN: %go tool pprof -raw app threads.txt | FileCheck %s --check-prefix=LEGACY
// RUN: %go119 tool pprof -raw app threads.txt \
// RUN:   | FileCheck %s --check-prefix=LEGACY
//
// CHECK: PeriodType: threadcreate count
// CHECK: Period: 1{{$}}
// CHECK: threadcreate/count{{$}}
// CHECK: 40: [[CREATE:[0-9]+]] [[ROOT:[0-9]+]]
// CHECK-NOT: thread:
// CHECK: 1: [[UNKNOWN:[0-9]+]]
// CHECK-NEXT: thread:[first]
// CHECK: {{ }}[[CREATE]]: {{.*}} pthread_create
// CHECK: {{ }}[[UNKNOWN]]: {{.*}} [unknown creator]
// TOP: 40 97.56% 97.56% 40 97.56% pthread_create
// TOP: 1 2.44% 100% 1 2.44% [unknown creator]
//
// READ: sample_types: threadcreate/count{{$}}
// READ-NEXT: period: threadcreate/count 1{{$}}
// READ-NEXT: drop_frames: {{$}}
// READ: sample: 40 : pthread_create <- root{{$}}
// READ: sample: 1 thread=first : [unknown creator]{{$}}
//
// TEXT: {{^}}threadcreate profile: total 41{{$}}
// TEXT-NEXT: {{^}}# live: 1{{$}}
// TEXT-NEXT: {{^}}40 @ 0x[[#%x,]] 0x[[#%x,]]{{$}}
// TEXT-NEXT: {{^}}#	0x[[#%x,]]	pthread_create{{$}}
// TEXT-NEXT: {{^}}#	0x[[#%x,]]	root	{{.*}}pprof-threads.c:[[#]]{{$}}
// TEXT-EMPTY:
// TEXT-NEXT: {{^}}1 @ 0x1{{$}}
// TEXT-NEXT: {{^}}#	[unknown creator]{{$}}
// TEXT: {{^}}# MProf
// TEXT: {{^}}--- Memory map: ---{{$}}
// TEXT-NEXT: {{^}}{{[0-9a-f]+-[0-9a-f]+ }}
//
// LEGACY: PeriodType: threadcreate count
// LEGACY: 40: [[CREATE:[0-9]+]] [[ROOT:[0-9]+]]
// LEGACY: 1: [[#]]{{ *$}}
// LEGACY: {{ }}[[ROOT]]: 0x{{[0-9a-f]+}} M=1 root

#include "waits.h"

#include "mprof/mprof.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <pthread.h>
#include <sys/prctl.h>

__attribute__((noinline)) void root(void) { __asm__ volatile("nop"); }

int main(void) {
  waits_start();
  prctl(PR_SET_NAME, "first");
  mprof_guard_enter();
  CHECK(mprof_thread_self(false) != NULL);
  mprof_guard_leave();
  thread_bucket(40, (mprof_pc[]){OP_PC(pthread_create), (mprof_pc)root + 1}, 2);
  CHECK_EQ(mprof_write_profile("threadcreate", "threads.pb.gz", 0), 0);
  CHECK_EQ(mprof_write_profile("threadcreate", "threads.txt", 1), 0);
  return 0;
}
