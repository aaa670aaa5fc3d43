// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the table of ids finds the index of each id and no other, whether ids
// are small, large, or in the hash table before the array of small ids covers
// them. A large id does not make the array long.
//
// RUN: %clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined \
// RUN:   -I%src/tools %s %src/tools/common/{idmap,memory,siphash}.c -o %t
// RUN: %t

#include "common/idmap.h"

#include "../Inputs/check.h"

enum { IDS = 3000 };

static void check(uint64_t (*id_of)(uint64_t n)) {
  struct idmap map = {0};
  size_t index;
  CHECK(!idmap_find(&map, 0, &index));
  for (uint64_t i = 0; i < IDS; i++) {
    CHECK(!idmap_find(&map, id_of(i), &index));
    CHECK_EQ(idmap_get(&map, id_of(i), i), i);
    CHECK_EQ(idmap_get(&map, id_of(i), i + 1), i);
  }
  for (uint64_t i = 0; i < IDS; i++) {
    CHECK(idmap_find(&map, id_of(i), &index));
    CHECK_EQ(index, i);
    CHECK(!idmap_find(&map, id_of(i + IDS), &index));
  }
  CHECK(map.small_capacity < 16 * IDS);
  CHECK_EQ(map.small_count + map.count, IDS);
  idmap_clear(&map);
  CHECK(!idmap_find(&map, id_of(0), &index));
}

static uint64_t up(uint64_t n) { return n; }
static uint64_t down(uint64_t n) { return 2 * IDS - n; }
static uint64_t far(uint64_t n) { return UINT64_MAX - n; }
static uint64_t mixed(uint64_t n) { return n % 2 ? n << 40 : n; }
static uint64_t sparse(uint64_t n) { return n * 1000; }

int main(void) {
  check(up);
  check(down);
  check(far);
  check(mixed);
  check(sparse);
  return 0;
}
