// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of finding a stack in the runtime's bucket table, through its
// internal interface (rt/bucket/bucket.h). The stacks are paths of a call tree
// in which each function calls four others, ten frames deep. The table holds
// STACKS of them. They are looked up in random order, from one of three sets:
//   hot     1,000 stacks that were inserted one after the other
//   spread  1,000 stacks at equal distances in the order of insertion
//   all     all stacks
// Prints lines "hot NS", "spread NS", "all NS": nanoseconds per lookup, minus
// the time to make the stack. callgrind counts the instructions of count_all,
// and of count_none, which only makes the stacks.
//
// usage: lookup STACKS LOOKUPS REPEATS [hot|spread|all]

#include "bench.h"

#include "bucket/bucket.h"
#include "sys/abi_words.h"
#include "sys/tls.h"

#include <string.h>

enum { DEPTH = 10, HOT = 1000 };

__attribute__((visibility("default"), used)) const char *
__mprof_default_options(void) {
  return "heap=0:report=0:profile=0";
}

// Instrumented objects refer to the version of the runtime, which links the
// runtime's constructor into the program.
__attribute__((used)) static const char *const version =
    &MPROF_ABI_NAME(MPROF_ABI_VERSION);

// Two bits of the number choose the call site in each frame.
static inline void make_stack(unsigned number, mprof_pc *stack) {
  for (unsigned i = 0; i < DEPTH; i++, number >>= 2)
    stack[i] = 0x401000 + i * 0x10000 + (number & 3) * 0x50;
}

static inline struct mprof_bucket *get(unsigned number, bool insert) {
  mprof_pc stack[DEPTH];
  make_stack(number, stack);
  struct mprof_bucket_key key = {.stack = stack,
                                 .stack_len = DEPTH,
                                 .type = MPROF_BUCKET_MEM,
                                 .size = 64,
                                 .rate = 1};
  return mprof_bucket_get(&key, insert);
}

static inline unsigned next_random(unsigned *x) {
  *x ^= *x << 13;
  *x ^= *x >> 17;
  *x ^= *x << 5;
  return *x;
}

// The stacks first, first + step, first + 2 * step, ...: count stacks.
struct set {
  unsigned first, step, count;
};

static inline unsigned pick(const struct set *s, unsigned *x) {
  return s->first +
         s->step * (unsigned)((uint64_t)next_random(x) * s->count >> 32);
}

static __attribute__((noinline)) void count_all(const struct set *s,
                                                long lookups) {
  unsigned x = 88675123;
  for (long i = 0; i < lookups; i++) {
    struct mprof_bucket *b = get(pick(s, &x), false);
    if (!b)
      abort();
    bench_sink(b);
  }
}

static __attribute__((noinline)) void count_none(const struct set *s,
                                                 long lookups) {
  unsigned x = 88675123;
  for (long i = 0; i < lookups; i++) {
    mprof_pc stack[DEPTH];
    make_stack(pick(s, &x), stack);
    bench_sink(stack);
  }
}

struct measurement {
  const char *only; // name of the only set to measure; NULL: all sets
  long lookups, repeats;
};

// Measures one extra repeat first, as a warm-up; its time is not printed.
static void measure(const struct measurement *m, const char *name,
                    struct set s) {
  if (m->only && strcmp(m->only, name) != 0)
    return;
  for (long i = -1; i < m->repeats; i++) {
    long long t0 = bench_now();
    count_none(&s, m->lookups);
    long long t1 = bench_now();
    count_all(&s, m->lookups);
    long long t2 = bench_now();
    if (i >= 0)
      printf("%s %.3f\n", name,
             (double)(t2 - t1 - (t1 - t0)) / (double)m->lookups);
  }
}

int main(int argc, char **argv) {
  unsigned stacks = (unsigned)bench_arg(argc, argv, 1);
  struct measurement m = {.only = argc > 4 ? argv[4] : NULL,
                          .lookups = bench_arg(argc, argv, 2),
                          .repeats = bench_arg(argc, argv, 3)};
  if (stacks < HOT || stacks > 1u << 2 * DEPTH)
    return 2;
  mprof_guard_enter();
  for (unsigned i = 0; i < stacks; i++)
    if (!get(i, true))
      return 1;
  measure(&m, "hot", (struct set){0, 1, HOT});
  measure(&m, "spread", (struct set){0, stacks / HOT, HOT});
  measure(&m, "all", (struct set){0, 1, stacks});
  mprof_guard_leave();
  return 0;
}
