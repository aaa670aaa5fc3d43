// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report has a section for each profile that is on. It lists stacks
// that waited and stacks that made others wait, by time, with their locks. It
// lists stacks that created threads, with the names of live threads. At the end
// is one line per profile for scripts, the heap's last.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: %run{block_rate=10000:mutex_fraction=3} ./app report.txt all
// RUN: FileCheck %s < report.txt
// RUN: %run{block_rate=1:mutex_fraction=1:report_top=1} ./app top.txt all
// RUN: FileCheck %s --check-prefix=TOP < top.txt
// RUN: %run{block_rate=1:heap=0} ./app noheap.txt
// RUN: FileCheck %s --check-prefix=NOHEAP < noheap.txt
// RUN: ./app plain.txt && FileCheck %s --check-prefix=PLAIN < plain.txt
//
// CHECK: {{^}}MProf {{[0-9.]+}} report
// CHECK: {{^}}Command:   ./app report.txt all
// CHECK-NEXT: {{^}}Rate:      one sample every 524,288 bytes
// CHECK: {{^}}Samples:   0 allocated
// CHECK: {{^}}Where threads waited (block profile)
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}Rate:      one sample every 10.00 us of waiting on average; the figures are estimates
// CHECK-NEXT: {{^}}Total:     6.00 s in 17 waits, 352.94 ms each, 3 stacks{{$}}
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}1. 5.00 s in 13 waits, 384.61 ms each, 83.3%{{$}}
// CHECK-NEXT: {{^}}    mutex cache (0x2000) and 2 others{{$}}
// CHECK-NEXT: {{^}}    #0 0x{{[0-9a-f]+}} in pthread_mutex_lock ({{.*}}+0x{{[0-9a-f]+}}){{$}}
// CHECK-NEXT: {{^}}    #1 0x{{[0-9a-f]+}} in leaf {{.*}}report-waits.c:[[#]]
// CHECK-NEXT: {{^}}    #2 0x{{[0-9a-f]+}} in root {{.*}}report-waits.c:[[#]]
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}2. 1.00 s in 3 waits, 333.33 ms each, 16.7%{{$}}
// CHECK-NEXT: {{^}}    mutex 0x1000{{$}}
// CHECK-NEXT: {{^}}    #0 {{.*}} in pthread_mutex_lock
// CHECK-NEXT: {{^}}    #1 {{.*}} in root
// CHECK-NEXT: {{^}}    [truncated] at the number of frames that stack_depth allows
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}3. 750 ns in 1 wait, 0.0%{{$}}
// CHECK-NEXT: {{^}}    sleep{{$}}
// CHECK-NEXT: {{^}}    #0 {{.*}} in usleep
// CHECK: {{^}}Which unlocks ended waits of other threads (mutex profile)
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}Rate:      one contended unlock in 3; the figures are estimates
// CHECK-NEXT: {{^}}Total:     12.35 us in 2 contentions, 6.17 us each, 1 stack{{$}}
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}1. 12.35 us in 2 contentions, 6.17 us each, 100.0%{{$}}
// CHECK-NEXT: {{^}}    mutex cache (0x2000){{$}}
// CHECK-NEXT: {{^}}    #0 {{.*}} in pthread_mutex_unlock
// CHECK: {{^}}Where threads were created
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}Total:     10 threads, 8 live, 2 stacks{{$}}
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}1. 9 threads, 7 live: zwilling (2 times), t1, t2, t3, t4, ...{{$}}
// CHECK-NEXT: {{^}}    #0 {{.*}} in pthread_create
// CHECK-NEXT: {{^}}    #1 {{.*}} in root
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}2. 1 thread, 1 live: first{{$}}
// CHECK-NEXT: {{^}}    [unknown creator] the first thread, or a thread created by uninstrumented code
// CHECK: {{^}}Missing from the profiles
// CHECK-NEXT: {{^}}  3 waits and contended unlocks whose stack is truncated
// CHECK: {{^}}SUMMARY: MProf: block: 17 waits, 5999990750 ns, 3 stacks, rate 10000{{$}}
// CHECK-NEXT: {{^}}SUMMARY: MProf: mutex: 2 contentions, 12345 ns, 1 stacks, fraction 3{{$}}
// CHECK-NEXT: {{^}}SUMMARY: MProf: threadcreate: 10 threads, 8 live, 2 stacks{{$}}
// CHECK-NEXT: {{^}}SUMMARY: MProf: 0 bytes in 0 blocks in use, {{.*}} rate 524288{{$}}
// CHECK-NOT: {{.}}
//
// TOP: Rate:      1, every wait is counted
// TOP: 1. 5.00 s
// TOP-NOT: {{^}}2.
// TOP: Rate:      1, every contended unlock is counted
// TOP: 1. 9 threads
// TOP-NOT: {{^}}2.
//
// NOHEAP: {{^}}MProf {{[0-9.]+}} report
// NOHEAP: {{^}}Command:   ./app noheap.txt{{$}}
// NOHEAP-EMPTY:
// NOHEAP-NEXT: {{^}}Where threads waited
// NOHEAP: {{^}}Total:     0 ns in 0 waits, 0 stacks{{$}}
// NOHEAP-NOT: mutex profile
// NOHEAP-NOT: Where threads were created
// NOHEAP: SUMMARY: MProf: block: 0 waits, 0 ns, 0 stacks, rate 1{{$}}
// NOHEAP-NOT: {{.}}
//
// PLAIN: {{^}}MProf {{[0-9.]+}} heap report
// PLAIN-NOT: profile)
// PLAIN-NOT: Where
// PLAIN: SUMMARY: MProf: 0 bytes{{.*$}}
// PLAIN-NOT: {{.}}

#include "waits.h"
#include "writer.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "lock_wait/hooked.h"
#include "mprof/mprof.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind.h"
#include "write/profiles.h"
#include "write/report.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }

static void fill_waits(void) {
  mprof_pc stack[] = {OP_PC(pthread_mutex_lock), (mprof_pc)leaf + 1,
                      (mprof_pc)root + 1};
  count_waits(block_bucket(0x1000, stack, 3), 5, 1000000000);
  count_waits(block_bucket(0x2000, stack, 3), 4, 7999980000);
  count_waits(block_bucket(0x3000, stack, 3), 3, 1000000000);
  count_waits(block_bucket(0, stack, 3), 1, 19);
  stack[1] = (mprof_pc)root + 1;
  struct mprof_bucket_key key =
      wait_key(MPROF_BUCKET_BLOCK, MPROF_KIND_mutex, 0x1000, stack, 2);
  key.end = MPROF_STACK_CUT_DEPTH;
  count_waits(bucket_of(key), 3, 1999999981);
  count_waits(bucket_of(wait_key(MPROF_BUCKET_BLOCK, MPROF_KIND_sleep, 0,
                                 (mprof_pc[]){OP_PC(usleep)}, 1)),
              1, 1500);
  stack[0] = OP_PC(pthread_mutex_unlock);
  count_waits(mutex_bucket(0x2000, stack, 3), 2, 24691);
  CHECK_EQ(mprof_name_lock((void *)0x2000, "cache"), 0);
}

static const char *const thread_names[] = {"zwilling", "t1", "t2",      "t3",
                                           "t4",       "t5", "zwilling"};
static struct mprof_bucket *created;
static pthread_barrier_t barrier;

static void enter(struct mprof_bucket *b, const char *name) {
  prctl(PR_SET_NAME, name);
  mprof_guard_enter();
  mprof_thread_self(false)->created = b;
  mprof_guard_leave();
}

static void *work(void *arg) {
  enter(created, arg);
  pthread_barrier_wait(&barrier);
  pause();
  return NULL;
}

static void fill_threads(void) {
  created = thread_bucket(
      9, (mprof_pc[]){OP_PC(pthread_create), (mprof_pc)root + 1}, 2);
  pthread_barrier_init(&barrier, NULL, 8);
  for (int i = 0; i < 7; i++) {
    pthread_t t;
    CHECK_EQ(pthread_create(&t, NULL, work, (void *)thread_names[i]), 0);
  }
  pthread_barrier_wait(&barrier);
}

int main(int argc, char **argv) {
  waits_start();
  enter(NULL, "first");
  if (argc > 2) {
    fill_waits();
    fill_threads();
  }
  struct mprof_summary sum;
  writer_enter();
  CHECK_EQ(mprof_summary_take(&sum), 0);
  CHECK_EQ(mprof_write_file(argv[1], false, mprof_write_report, &sum), 0);
  writer_leave();
  mprof_summary_free(&sum);
  _exit(0);
}
