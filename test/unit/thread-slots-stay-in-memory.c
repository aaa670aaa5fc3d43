// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stacks of all slots of a round, and the pages that are provided
// for them in advance, lie in the memory of the round. This holds for any value
// of the option stack_depth, and if some stacks are already there.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t \
// RUN:   -Wl,--wrap=mprof_os_populate
// RUN: %t

#include "core.h"

#include "sys/os.h"
#include "thread_stacks/thread_stacks.h"
#include "thread_stacks/thread_wait.h"

enum { THREADS = 3000 };

static struct mprof_thread_stacks s;

static bool is_inside(const void *begin, const void *end) {
  return (const char *)begin >= s.stacks && begin <= end &&
         (const char *)end <= (const char *)s.slots + s.mapped_bytes;
}

void __wrap_mprof_os_populate(void *p, size_t len);
void __wrap_mprof_os_populate(void *p, size_t len) {
  CHECK((uintptr_t)p % MPROF_PAGE == 0);
  CHECK(is_inside(p, (char *)p + len));
}

// Claims the slots with numbers from `from` on, each for a stack of this depth.
static void claim(size_t from, size_t to, size_t depth) {
  for (size_t i = from; i < to; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(&s, i);
    CHECK(mprof_slot_claim(&s, slot, depth));
    const size_t most = depth < s.depth ? depth : s.depth;
    CHECK(is_inside(slot->stack, &slot->stack->stack[most]));
  }
}

static void check(uint32_t depth) {
  const size_t slots_bytes =
      (THREADS * sizeof(*s.slots) + MPROF_PAGE - 1) & ~(MPROF_PAGE - 1ul);
  s = (struct mprof_thread_stacks){.slots_len = THREADS, .depth = depth};
  s.mapped_bytes = slots_bytes + THREADS * mprof_slot_stack_bytes(depth);
  s.slots = mprof_os_map(s.mapped_bytes);
  s.stacks = (char *)s.slots + slots_bytes;
  mprof_slots_populate(&s);
  claim(0, THREADS / 2, depth);
  mprof_slots_populate(&s);
  claim(THREADS / 2, THREADS, 2); // as for threads that are not read
  mprof_slots_populate(&s);
  mprof_os_unmap(s.slots, s.mapped_bytes);
}

int main(void) {
  const uint32_t depths[] = {0, 1, 2, 3, 11, 12, 13, 128, 1024};
  for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
    check(depths[i]);
  return 0;
}
