// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the realloc of a counted block fails, the block stays counted as
// in use. If the live map has no memory for the block then, the block counts as
// freed, because its later free would not be recognized. The same holds if a
// signal handler calls realloc inside the runtime, and for blocks of the
// program's own allocators.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t \
// RUN:   -Wl,--wrap=mprof_live_put -Wl,--wrap=mprof_custom_put && %t

#define TEST_OPTIONS "heap_rate=1"
#include "core.h"

#include "heap/event.h"
#include "heap/livemap.h"
#include "mprof/mprof.h"

#include <stdlib.h>

static bool is_full;

bool __real_mprof_live_put(uintptr_t addr, uint32_t bucket, uint32_t *stale);
bool __wrap_mprof_live_put(uintptr_t addr, uint32_t bucket, uint32_t *stale);
bool __wrap_mprof_live_put(uintptr_t addr, uint32_t bucket, uint32_t *stale) {
  *stale = 0;
  return !is_full && __real_mprof_live_put(addr, bucket, stale);
}

bool __real_mprof_custom_put(const struct mprof_custom_block *b,
                             void (*stale)(uint32_t bucket));
bool __wrap_mprof_custom_put(const struct mprof_custom_block *b,
                             void (*stale)(uint32_t bucket));
bool __wrap_mprof_custom_put(const struct mprof_custom_block *b,
                             void (*stale)(uint32_t bucket)) {
  return !is_full && __real_mprof_custom_put(b, stale);
}

// Returns the number of counted blocks of `size` bytes that are in use.
static int64_t in_use(size_t size) {
  struct mprof_mem_record records[64];
  size_t n;
  int64_t sum = 0;
  CHECK_EQ(mprof_mem_profile(records, 64, 1, &n), 0);
  for (size_t i = 0; i < n; i++)
    if (records[i].alloc_bytes == (int64_t)size)
      sum += records[i].alloc_objects - records[i].free_objects;
  return sum;
}

static char *count_block(size_t size) {
  char *p = malloc(size);
  const struct mprof_alloc a = {.size = size,
                                .rate = 1,
                                .frame = (uintptr_t)__builtin_frame_address(0),
                                .family = MPROF_FAMILY_C};
  mprof_event_alloc(&a, p);
  CHECK_EQ(in_use(size), 1);
  return p;
}

static void check_custom_block(void) {
  static char block[1004];
  const struct mprof_alloc a = {.size = sizeof(block),
                                .rate = 1,
                                .frame = (uintptr_t)__builtin_frame_address(0)};
  const struct mprof_alloc_owner owner = {.is_outer = true};
  mprof_event_custom_alloc(&a, block, &owner);
  CHECK_EQ(in_use(sizeof(block)), 1);
  mprof_event_custom_kept(mprof_event_custom_release(block), block);
  CHECK_EQ(in_use(sizeof(block)), 1);
  const struct mprof_released released = mprof_event_custom_release(block);
  is_full = true;
  mprof_event_custom_kept(released, block);
  is_full = false;
  CHECK_EQ(in_use(sizeof(block)), 0);
}

int main(void) {
  char *kept = count_block(1001);
  mprof_event_kept(mprof_event_release(kept), kept);
  CHECK_EQ(in_use(1001), 1);
  mprof_event_free(kept);
  CHECK_EQ(in_use(1001), 0);

  char *dropped = count_block(1002);
  const struct mprof_released released = mprof_event_release(dropped);
  is_full = true;
  mprof_event_kept(released, dropped);
  is_full = false;
  CHECK_EQ(in_use(1002), 0);
  mprof_event_free(dropped);
  CHECK_EQ(in_use(1002), 0);

  char *in_handler = count_block(1003);
  const struct mprof_released of_handler = mprof_event_release(in_handler);
  CHECK(mprof_guard_enter());
  mprof_event_kept(of_handler, in_handler);
  mprof_guard_leave();
  CHECK_EQ(in_use(1003), 0);

  check_custom_block();
  free(kept);
  free(dropped);
  free(in_handler);
  return 0;
}
