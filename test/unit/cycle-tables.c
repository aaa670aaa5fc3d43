// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each sequence of allocations, frees, cycle ends and reads publishes
// what Go's machine publishes (the tables of its heap accounting).
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o %t && %t

#include "core.h"
#include "mprof/mprof.h"

static struct mprof_bucket *b;

// Starts each sequence with an empty profile.
static void fresh(void) {
  mprof_bucket_reset();
  mprof_cycle_set_word(0);
  b = mem_bucket((mprof_pc[]){0x1000}, 1, 16);
}

static unsigned at(unsigned ahead) { return (mprof_cycle_read() + ahead) % 3; }
static void alloc(unsigned n) { b->mem.future[at(2)].allocs += n; }
static void explicit_free(unsigned n) { b->mem.future[at(2)].frees += n; }
static void gc_free(unsigned n) { b->mem.future[at(1)].frees += n; }

static void check_read(int line, int64_t allocs, int64_t frees) {
  struct mprof_mem_record r;
  size_t n;
  CHECK_EQ(mprof_mem_profile(&r, 1, 1, &n), 0);
  CHECK_EQ(n, 1);
  if (r.alloc_objects != allocs || r.free_objects != frees) {
    fprintf(stderr, "line %d: read (%lld,%lld), not (%lld,%lld)\n", line,
            (long long)r.alloc_objects, (long long)r.free_objects,
            (long long)allocs, (long long)frees);
    exit(1);
  }
}
#define READ(allocs, frees) check_read(__LINE__, allocs, frees)
#define N mprof_next_cycle()
#define F mprof_flush()
#define P mprof_post_sweep()

int main(void) {
  // A collector's cycle: everything dies, its frees are in before P.
  fresh();
  alloc(10), READ(10, 0);
  alloc(5), READ(10, 0);
  N, F, gc_free(15), P, READ(15, 15);
  alloc(3), READ(15, 15);
  N, F, P, READ(18, 15);

  fresh();
  alloc(10), READ(10, 0);
  alloc(5), N, F, READ(10, 0);
  N, F, READ(15, 0);

  fresh();
  alloc(10), N, F, gc_free(4), P, READ(10, 4);

  fresh();
  alloc(7), N, READ(7, 0);

  // A read between N and F flushes for itself; F then finds nothing.
  fresh();
  alloc(1), N, F, P, alloc(7), N, alloc(2), N, READ(8, 0), F, READ(8, 0);

  // A request loop that leaks one block a request.
  fresh();
  for (int k = 0; k < 4; k++) {
    alloc(101), explicit_free(100);
    N, F, P, READ(101 * (k + 1), 100 * (k + 1));
  }

  // A second flush of one cycle does nothing.
  fresh();
  alloc(1), N, F, P, READ(1, 0);
  alloc(1), N, F, F, READ(1, 0);
  return 0;
}
