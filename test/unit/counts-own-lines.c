// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if three threads count events at one stack, no two of them write to
// the same cache line. This holds for MProf's tables and for its variables. The
// test compares the memory before and after the events of each thread.
//
// UNSUPPORTED: unit-address, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "heap/event.h"
#include "mprof/mprof.h"
#include "process/process.h"
#include "sys/os.h"
#include "sys/persistent.h"

#include <pthread.h>
#include <sys/mman.h>

enum { LINE = 64, EVENTS = 1000, THREADS = 3 };
extern char __data_start[], _end[];

// Memory that is watched, a copy of its old contents, and for each of its cache
// lines the threads that have changed it.
struct area {
  char *start, *copy;
  size_t len;
  unsigned char *changed_by;
};
static struct area areas[2];
// Has a cache line of its own: a thread that comes late to the barrier changes
// it during the turn of another thread.
static _Alignas(LINE) union {
  pthread_barrier_t barrier;
  char line[LINE];
} turn;

static void *pages(size_t len) {
  void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
  CHECK(p != MAP_FAILED);
  return p;
}

static void watch(struct area *a, char *start, char *end) {
  a->start = (char *)((uintptr_t)start & -(uintptr_t)LINE);
  a->len = ((size_t)(end - a->start) + LINE - 1) / LINE * LINE;
  a->copy = pages(a->len);
  a->changed_by = pages(a->len / LINE);
}

static void copy_all(void) {
  for (int i = 0; i < 2; i++)
    memcpy(areas[i].copy, areas[i].start, areas[i].len);
}

static unsigned note_changes(unsigned who) {
  unsigned n = 0;
  for (int i = 0; i < 2; i++)
    for (size_t k = 0; k < areas[i].len / LINE; k++)
      if (memcmp(areas[i].copy + k * LINE, areas[i].start + k * LINE, LINE)) {
        areas[i].changed_by[k] |= (unsigned char)(1u << who);
        n++;
      }
  return n;
}

// The blocks of each thread are in a different place, as a real allocator has
// them. The addresses move on from block to block, so that changes in the map
// of live blocks show.
static void events(unsigned who, unsigned n, bool leave_one) {
  static const uintptr_t bases[] = {0x100000000, 0x200000000, 0x300000000};
  for (unsigned i = 0; i < n; i++) {
    void *const ptr = (void *)(bases[who] + i % 64 * 32);
    const struct mprof_alloc a = {
        .size = 24, .rate = 1, .frame = (uintptr_t)__builtin_frame_address(0)};
    mprof_event_alloc(&a, ptr);
    if (!leave_one || i + 1 < n)
      mprof_event_freed(mprof_event_release(ptr));
  }
}

// Only one thread runs at a time, so every change is made by that thread.
static void *work(void *arg) {
  unsigned me = (unsigned)(size_t)arg;
  events(me, EVENTS, false);
  pthread_barrier_wait(&turn.barrier);
  for (unsigned who = 0; who < THREADS; who++) {
    if (who == me) {
      copy_all();
      events(me, EVENTS, true);
      // The thread changes at least the counters and the block's slot in the
      // map.
      CHECK(note_changes(me) >= 2);
    }
    pthread_barrier_wait(&turn.barrier);
  }
  return NULL;
}

int main(void) {
  pthread_t t[THREADS];
  CHECK(mprof_process_ready());
  watch(&areas[0], mprof_persistent_base, mprof_persistent_base + (4 << 20));
  mprof_os_commit(mprof_persistent_base, 4 << 20, false);
  watch(&areas[1], __data_start, _end);
  pthread_barrier_init(&turn.barrier, NULL, THREADS);
  for (size_t i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, work, (void *)i);
  for (size_t i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);

  size_t buckets = 0;
  for (struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM); b;
       b = b->allnext)
    buckets++;
  CHECK_EQ(buckets, 1); // the threads do share the bucket
  CHECK(mprof_persistent_used() < 4 << 20);
  for (int i = 0; i < 2; i++)
    for (size_t k = 0; k < areas[i].len / LINE; k++)
      if ((areas[i].changed_by[k] & (areas[i].changed_by[k] - 1)) != 0 &&
          areas[i].start + k * LINE != turn.line) {
        fprintf(stderr, "two threads wrote the line at %p\n",
                (void *)(areas[i].start + k * LINE));
        return 1;
      }
  return 0;
}
