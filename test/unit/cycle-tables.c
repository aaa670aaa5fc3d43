// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: after each sequence of allocations, frees, cycle ends and reads, the
// published counts equal those of Go's heap accounting. Go's tables are part of
// the test. When the program ends a cycle, all earlier events are published.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "mprof/mprof.h"
#include "sys/tls.h"

static struct mprof_bucket *b;

// Steps: +n allocates n blocks, -n frees n explicitly, ~n frees n by a
// collector. O says that a collector ends cycles. N is a collector that ends
// the cycle, F flushes, P is the post-sweep, C calls mprof_next_cycle, and H
// calls mprof_next_cycle in a signal handler inside the profiler. =a,f reads.
static const struct {
  const char *name, *steps;
} rows[] = {
    {"first read: nothing was published, so all is", "+10 =10,0"},
    {"nobody ends cycles: each read publishes all", "+10 =10,0 +5 -2 =15,2"},
    {"a later read waits for a cycle", "O+10 =10,0 +5 =10,0"},
    {"all dropped, a collection", "+10 =10,0 +5 =15,0 NF~15P =15,15"},
    {"3 more, read, a collection, read",
     "O+10 =10,0 +5 =10,0 NF~15P =15,15 +3 =15,15 NFP =18,15"},
    {"without post sweep, two cycles later", "+10 =10,0 +5 NF =10,0 NF =15,0"},
    {"post sweep publishes what a sweep has freed", "+10 NF~4P =10,4"},
    {"next cycle without flush: nothing was published", "+7 N =7,0"},
    {"a read between next cycle and flush flushes",
     "+1 NFP +7 N +2 N =8,0 F =8,0"},
    {"requests that leak one block each",
     "+101 -100 NFP =101,100 +101 -100 NFP =202,200 +101 -100 NFP =303,300 "
     "+101 -100 NFP =404,400"},
    {"late frees skew nothing", "+1 NFP NFP +10 NF~4 =1,0 PNFP =11,4"},
    {"a second flush does nothing", "+1 NFP =1,0 +1 NFF =1,0"},
    {"a free two cycles after its block", "+1 NFP =1,0 NFP -1 =1,0 NFP =1,1"},
    {"the program's cycles: requests that leak one block each",
     "+101 -100 C =101,100 +101 -100 C =202,200 +101 -100 C =303,300 "
     "+101 -100 C =404,400"},
    {"the program's cycle: what came after it is not in it",
     "+10 -4 C =10,4 +5 -6 =10,4 C =15,10"},
    {"the program's cycle: flush and post sweep find nothing left",
     "+10 -4 C +5 F =10,4 P =10,4"},
    {"a cycle ended in a handler is published by the next",
     "+1 C +2 H =1,0 +4 C =7,0 +8 C =15,0"},
    {"a cycle ended in a handler is published by flush and post sweep",
     "+1 C +2 H =1,0 +4 FP =3,0 C =7,0"},
};

static void next_cycle_in_handler(void) {
  CHECK(mprof_guard_enter());
  mprof_next_cycle();
  mprof_guard_leave();
}

static struct mprof_mem_record read_record(void) {
  struct mprof_mem_record r;
  size_t n;
  CHECK_EQ(mprof_mem_profile(&r, 1, 1, &n), 0);
  CHECK_EQ(n, 1);
  return r;
}

static unsigned at(unsigned ahead) { return (mprof_cycle_read() + ahead) % 3; }

static void play(const char *name, const char *steps) {
  const char *s = steps;
  mprof_bucket_reset();
  mprof_cycle_reset();
  b = mem_bucket((mprof_pc[]){0x1000}, 1, 16);
  while (*s) {
    char step = *s++, *end;
    unsigned long n = strtoul(s, &end, 10);
    if (strchr("+-~=", step))
      s = end;
    switch (step) {
    case '+':
      b->mem.shared[at(2)].allocs += n;
      break;
    case '-':
      b->mem.shared[at(2)].frees += n;
      break;
    case '~':
      b->mem.shared[at(1)].frees += n;
      break;
    case 'O':
      mprof_cycle_claim(MPROF_CYCLE_COLLECTOR);
      break;
    case 'N':
      mprof_cycle_claim(MPROF_CYCLE_COLLECTOR);
      mprof_cycle_advance();
      break;
    case 'F':
      mprof_cycle_flush();
      break;
    case 'P':
      mprof_cycle_post_sweep();
      break;
    case 'C':
      mprof_next_cycle();
      break;
    case 'H':
      next_cycle_in_handler();
      break;
    case ' ':
      break;
    case '=': {
      CHECK(*s == ',');
      unsigned long frees = strtoul(s + 1, &end, 10);
      struct mprof_mem_record r = read_record();
      s = end;
      if (r.alloc_objects == (int64_t)n && r.free_objects == (int64_t)frees)
        break;
      fprintf(stderr,
              "%s:\n%s\nread (%lld,%lld), not (%lu,%lu), before \"%s\"\n", name,
              steps, (long long)r.alloc_objects, (long long)r.free_objects, n,
              frees, s);
      exit(1);
    }
    default:
      CHECK(!"an unknown step");
    }
  }
}

int main(void) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    play(rows[i].name, rows[i].steps);
  return 0;
}
