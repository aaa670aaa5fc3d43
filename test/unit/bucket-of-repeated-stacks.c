// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an event with the same frame address and call address as an earlier
// event gets the same bucket only if the whole stacks are equal. Stacks may
// differ in a return address at any depth, in their length, or in how the frame
// chain ends.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

enum { FRAMES = 8, WORDS = 512, LEAF = 0x500000 };
static uintptr_t stack[WORDS] __attribute__((aligned(16)));
static struct mprof_thread thread;

static uintptr_t *frame(size_t i) { return &stack[10 + 20 * i]; }

// Makes a chain of n frames, the last of which is the root.
static void make(size_t n) {
  for (size_t i = 0; i < n; i++) {
    frame(i)[0] = i + 1 < n ? (uintptr_t)frame(i + 1) : 0;
    frame(i)[1] = 0x401000 + i;
  }
}

static struct mprof_bucket *at(mprof_pc leaf) {
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_TRACE};
  return mprof_bucket_at(&thread, &key, leaf, (uintptr_t)frame(0));
}

// Returns the bucket as found without the recent events.
static struct mprof_bucket *anew(mprof_pc leaf) {
  memset(thread.scratch->known, 0, sizeof(thread.scratch->known));
  return at(leaf);
}

// Looks up a stack, then a changed one, then the first again: each lookup meets
// the bucket of the other stack among the recent events.
static void check(mprof_pc leaf, void (*change)(void), void (*undo)(void)) {
  struct mprof_bucket *first = anew(leaf);
  CHECK_EQ(at(leaf), first);
  change();
  struct mprof_bucket *other = at(leaf);
  CHECK(other != first);
  CHECK_EQ(other->end, anew(leaf)->end);
  CHECK_EQ(other, anew(leaf));
  undo();
  CHECK_EQ(at(leaf), first);
}

static size_t changed;
static void change_pc(void) { frame(changed)[1] += 0x1000; }
static void undo_pc(void) { frame(changed)[1] -= 0x1000; }
static void make_longer(void) { make(FRAMES + 1); }
static void make_shorter(void) { make(FRAMES - 1); }
static void undo_length(void) { make(FRAMES); }
static void cut(void) { frame(FRAMES - 1)[0] = 4; }
static void cut_early(void) { frame(3)[0] = 4; }
static void undo_cut(void) {
  frame(FRAMES - 1)[0] = 0;
  frame(3)[0] = (uintptr_t)frame(4);
}

static void check_all(mprof_pc leaf, bool has_root) {
  make(FRAMES);
  for (changed = 0; changed < 5; changed++)
    check(leaf, change_pc, undo_pc);
  check(leaf, cut_early, undo_cut);
  if (!has_root)
    return;
  for (; changed < FRAMES; changed++)
    check(leaf, change_pc, undo_pc);
  check(leaf, make_longer, undo_length);
  check(leaf, make_shorter, undo_length);
  check(leaf, cut, undo_cut);
}

int main(void) {
  mprof_jit_add(0x400000, 0x600000); // the addresses count as code
  _Alignas(struct mprof_scratch) static char
      scratch[sizeof(struct mprof_scratch) + 2 * 128 * sizeof(mprof_pc)];
  thread.scratch = (struct mprof_scratch *)scratch;
  thread.sized = thread.scratch->few;
  thread.sized_mask = MPROF_SIZED_MIN - 1;
  thread.range = (struct mprof_stack_range){(uintptr_t)stack,
                                            (uintptr_t)(stack + WORDS), false};
  mprof_guard_enter();
  for (mprof_pc leaf = 0; leaf <= LEAF; leaf += LEAF) {
    thread.scratch->depth = 128;
    check_all(leaf, true);
    thread.scratch->depth = FRAMES - 1;
    check_all(leaf, false);
  }
  mprof_guard_leave();
  return 0;
}
