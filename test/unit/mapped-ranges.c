// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the ledger of mapped memory agrees with an array of pages after each
// of many random calls: mmap also over mapped memory, munmap also of parts,
// mremap, and calls that fail. Its counts are the sums of its ranges. A forked
// child has the same ranges, and has mapped nothing. The ledger holds 100,000
// ranges.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "memory/mapped_ranges.h"
#include "sys/os.h"

#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 512, BUCKETS = 3, SEEDS = 200, CALLS = 300 };

// Neighbouring pages belong to the same range if they have the same number.
static struct page {
  int bucket, number;
} model[PAGES];
static int numbers;
static uint64_t calls[BUCKETS], bytes[BUCKETS];

static struct mprof_bucket *buckets[BUCKETS];

static uintptr_t at(size_t page) { return page * MPROF_PAGE; }

static void make_buckets(int seed) {
  for (int i = 0; i < BUCKETS; i++) {
    const mprof_pc stack[] = {(mprof_pc)(1000 * seed + i + 1)};
    const struct mprof_bucket_key key = {
        .type = MPROF_BUCKET_MAP, .stack = stack, .stack_len = 1};
    buckets[i] = mprof_bucket_get(&key, true);
    NEED(buckets[i] != NULL);
  }
}

static void fill(size_t from, size_t to, int bucket, int number) {
  for (size_t i = from; i < to; i++)
    model[i] = (struct page){bucket, number};
}

// Gives each range a number that no other range has.
static void renumber(void) {
  for (size_t i = 0, end; i < PAGES; i = end) {
    const int old = model[i].number;
    for (end = i; end < PAGES && model[end].number == old; end++)
      ;
    if (old != 0)
      fill(i, end, model[i].bucket, ++numbers);
  }
}

static void check_same(bool is_child) {
  struct mprof_mapped_range *v;
  size_t len, mapped_bytes, n = 0;
  struct mprof_map_counts sums[BUCKETS] = {0};
  CHECK_EQ(mprof_ranges_copy(&v, &len, &mapped_bytes), 0);
  for (size_t i = 0, end; i < PAGES; i = end) {
    const struct page p = model[i];
    for (end = i; end < PAGES && model[end].number == p.number; end++)
      ;
    if (p.number == 0)
      continue;
    CHECK(n < len);
    CHECK_EQ(v[n].start, at(i));
    CHECK_EQ(v[n].limit, at(end));
    CHECK(v[n].stack == buckets[p.bucket]);
    sums[p.bucket].inuse_objects++;
    sums[p.bucket].inuse_bytes += at(end) - at(i);
    n++;
  }
  CHECK_EQ(n, len);
  mprof_os_unmap(v, mapped_bytes);
  for (int i = 0; i < BUCKETS; i++) {
    CHECK_EQ(buckets[i]->map.inuse_objects, sums[i].inuse_objects);
    CHECK_EQ(buckets[i]->map.inuse_bytes, sums[i].inuse_bytes);
    CHECK_EQ(buckets[i]->map.alloc_objects, is_child ? 0 : calls[i]);
    CHECK_EQ(buckets[i]->map.alloc_bytes, is_child ? 0 : bytes[i]);
  }
}

// --- calls ---

static size_t below(size_t n) { return (size_t)random() % n; }

static void count(int bucket, size_t pages) {
  calls[bucket]++;
  bytes[bucket] += at(pages);
}

static void map(size_t from, size_t to, int bucket, bool grows) {
  fill(from, to, 0, 0);
  renumber();
  const bool joins = grows && from > 0 && model[from - 1].number != 0 &&
                     model[from - 1].bucket == bucket;
  mprof_ranges_map(at(from), at(to), buckets[bucket], grows);
  fill(from, to, bucket, joins ? model[from - 1].number : ++numbers);
  count(bucket, to - from);
}

static void unmap(size_t from, size_t to, bool fails) {
  struct mprof_ranges *taken = mprof_ranges_take(at(from), at(to));
  if (fails) {
    mprof_ranges_give_back(taken, 0, UINTPTR_MAX);
    return;
  }
  mprof_ranges_drop(taken);
  fill(from, to, 0, 0);
}

// Moves pages to a place, with which they do not overlap, or resizes them.
static void move(size_t from, size_t to, size_t place, size_t len, int bucket) {
  const size_t old = to - from, kept = len < old ? len : old;
  struct page pages[PAGES];
  mprof_ranges_give_back(mprof_ranges_take(at(from), at(to)),
                         at(place) - at(from), at(place + len));
  memcpy(pages, model + from, kept * sizeof(pages[0]));
  fill(from, to, 0, 0);
  const int base = place == from ? 0 : numbers;
  for (size_t i = 0; i < kept; i++)
    if (pages[i].number != 0) {
      model[place + i] = pages[i];
      model[place + i].number += base;
    }
  numbers += base;
  renumber();
  if (len > old)
    map(place + old, place + len, bucket, true);
}

static void call(void) {
  const size_t from = below(PAGES - 64), to = from + 1 + below(32);
  const int bucket = (int)below(BUCKETS);
  switch (below(6)) {
  case 0:
  case 1:
    map(from, to, bucket, false);
    break;
  case 2:
    map(from, to, bucket, true);
    break;
  case 3:
    unmap(from, to, false);
    break;
  case 4:
    unmap(from, to, true);
    break;
  default: {
    const size_t len = 1 + below(32), place = below(PAGES - 64);
    if (place + len <= from || to <= place)
      move(from, to, place, len, bucket);
    else
      move(from, to, from, len, bucket);
  }
  }
  renumber();
}

// --- forked children and many ranges ---

static void run_child(int seed) {
  mprof_guard_leave();
  const pid_t child = fork();
  NEED(child >= 0);
  mprof_guard_enter();
  if (child == 0) {
    make_buckets(seed);
    check_same(true);
    CHECK(!mprof_ranges_has_calls());
    _exit(0);
  }
  int status;
  NEED(waitpid(child, &status, 0) == child);
  CHECK_EQ(status, 0);
}

static void check_many(void) {
  enum { MANY = 100000 };
  struct mprof_mapped_range *v;
  size_t len, mapped_bytes;
  // 70001 and MANY have no common divisor, so this is a random order.
  for (size_t i = 0; i < MANY; i++)
    mprof_ranges_map(at(2 * (i * 70001 % MANY)), at(2 * (i * 70001 % MANY) + 1),
                     buckets[0], false);
  CHECK_EQ(mprof_ranges_copy(&v, &len, &mapped_bytes), 0);
  CHECK_EQ(len, MANY);
  for (size_t i = 0; i < MANY; i++)
    CHECK_EQ(v[i].start, at(2 * i));
  mprof_os_unmap(v, mapped_bytes);
  for (size_t i = 0; i < MANY; i++)
    mprof_ranges_drop(mprof_ranges_take(at(2 * (i * 70001 % MANY)),
                                        at(2 * (i * 70001 % MANY) + 1)));
  CHECK_EQ(buckets[0]->map.inuse_bytes, 0);
}

int main(void) {
  NEED(mprof_guard_enter());
  for (int seed = 1; seed <= SEEDS; seed++) {
    srandom((unsigned)seed);
    make_buckets(seed);
    memset(calls, 0, sizeof(calls));
    memset(bytes, 0, sizeof(bytes));
    for (int i = 0; i < CALLS; i++) {
      call();
      check_same(false);
    }
    if (seed % 50 == 0)
      run_child(seed);
    unmap(0, PAGES, false);
    check_same(false);
  }
  check_many();
  mprof_guard_leave();
  return 0;
}
