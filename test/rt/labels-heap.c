// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a block has the labels of the thread that allocated it, in all files
// and for its whole life. The thread may get other labels or end, and a thread
// with other labels may resize or free the block. pprof selects samples by
// labels. If the program uses a key that MProf uses itself, the program's key
// gets the prefix "label.".
//
// REQUIRES: go
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=x} ./app
// RUN: %mprof_read --symbolize x.*.heap.pb.gz > all && FileCheck %s < all
// RUN: FileCheck %s --check-prefix=REPORT < x.*[0-9].txt
// RUN: %run{heap_rate=1:log_path=y:format=1:report=0} ./app
// RUN: FileCheck %s --check-prefix=TEXT < y.*.heap.txt
// RUN: %go tool pprof -tags app x.*.heap.pb.gz | FileCheck %s --check-prefix=TAGS
// RUN: %go tool pprof -traces -sample_index=alloc_space -tagfocus=request=r7 app \
// RUN:   x.*.heap.pb.gz | FileCheck %s --check-prefix=FOCUS
// RUN: %go tool pprof -top -sample_index=alloc_space y.*.heap.txt \
// RUN:   | FileCheck %s --check-prefix=TOP
//
// CHECK-DAG: sample: 1 1000 1 1000 bytes=1000 : get <- main
// CHECK-DAG: sample: 2 2000 1 1000 bytes=1000 request=r7 : get <- main
// CHECK-DAG: sample: 1 1000 0 0 bytes=1000 request=r8 : get <- main
// CHECK-DAG: sample: 1 1000 1 1000 bytes=1000 phase=init request=r8 : get <- in_thread
// CHECK-DAG: sample: 1 3000 0 0 bytes=3000 request=r7 : resize <- main
// CHECK-DAG: sample: 1 4000 1 4000 bytes=4000 request=r8 : resize <- main
// CHECK-DAG: sample: 1 1000 1 1000 bytes=1000 label.bytes=a label.grade=c label.thread=b : get <- main
//
// TEXT: {{^}}1: 4000 [1: 4000] @ 0x{{.*[0-9a-f]$}}
// TEXT-NEXT: {{^}}# labels: {"request":"r8"}{{$}}
// TEXT-NEXT: {{^}}#{{.*}}resize
//
// REPORT: Stacks with the most bytes allocated
// REPORT: (5,000 bytes) in 5 blocks
// REPORT-NEXT: {{^}}    labels {"request":"r7"} and others{{$}}
// REPORT-NEXT: {{^}}    #0 {{.*}} in get
// REPORT: 1,000 bytes in 1 block
// REPORT-NEXT: {{^}}    labels {"phase":"init", "request":"r8"}{{$}}
// REPORT-NEXT: {{^}}    #0 {{.*}} in get
// REPORT-NEXT: {{^}}    #1 {{.*}} in in_thread
//
// TAGS: phase: Total
// TAGS: init
// TAGS: request: Total
// TAGS: r8
// FOCUS: request: {{ *}}r7
// FOCUS-NOT: r8
// TOP: 7000B {{.*}} 7000B {{.*}}resize
// TOP-NEXT: 6000B {{.*}} 6000B {{.*}}get

#include "records.h"

#include <pthread.h>

__attribute__((noinline)) static void *get(void) {
  void *p = malloc(1000);
  __asm__ volatile("" ::"r"(p) : "memory");
  return p;
}

__attribute__((noinline)) static void *resize(void *p, size_t size) {
  p = realloc(p, size);
  __asm__ volatile("" ::"r"(p) : "memory");
  return p;
}

static void *volatile blocks[8], *volatile of_thread;

__attribute__((noinline)) static void *in_thread(void *arg) {
  CHECK(mprof_label_set("phase", "init") == 0);
  of_thread = get();
  __asm__ volatile("" ::: "memory");
  return arg;
}

// Counts the blocks of a size in use in buckets with these labels.
struct in_use {
  const struct mprof_labels *labels;
  size_t size;
  uint64_t n;
};
static void add_bucket(const struct mprof_mem_bucket *b, void *arg) {
  struct in_use *u = arg;
  if (b->size == u->size && b->labels == u->labels)
    u->n += b->allocs - b->frees;
}

enum { UNLABELLED, SEVEN, SEVEN_FREED, EIGHT_FREED, OWN_KEYS, BLOCKS };

int main(void) {
  const char *const pairs[BLOCKS][7] = {
      [SEVEN] = {"request", "r7"},
      [SEVEN_FREED] = {"request", "r7"},
      [EIGHT_FREED] = {"request", "r8"},
      [OWN_KEYS] = {"bytes", "a", "thread", "b", "grade", "c"}};
  const struct mprof_labels *labels[BLOCKS];
  pthread_t t;
#pragma clang loop unroll(disable)
  for (int i = 0; i < BLOCKS; i++) {
    mprof_labels_add(pairs[i]);
    labels[i] = mprof_labels_get();
    blocks[i] = get();
    mprof_labels_swap(NULL);
  }
  CHECK(labels[SEVEN] == labels[SEVEN_FREED]);
  mprof_labels_swap(labels[SEVEN]);
  void *p = resize(NULL, 3000);
  mprof_labels_swap(labels[EIGHT_FREED]);
  free(blocks[SEVEN_FREED]);
  blocks[SEVEN_FREED] = resize(p, 4000);
  CHECK(pthread_create(&t, NULL, in_thread, NULL) == 0);
  CHECK(pthread_join(t, NULL) == 0);
  mprof_labels_swap(NULL);
  free(blocks[EIGHT_FREED]);

  struct in_use u = {labels[SEVEN], 1000, 0}, v = {NULL, 1000, 0};
  mprof_next_cycle();
  mprof_iterate_mem(add_bucket, &u);
  mprof_iterate_mem(add_bucket, &v);
  CHECK(u.n == 1 && v.n == 1);
  return 0;
}
