// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: stacks are complete, and have addresses without signatures, in a
// program whose functions sign their return addresses
// (-mbranch-protection=standard). This holds for both ways of unwinding, for a
// stack that repeats, and for a signal handler's stack, which continues in the
// code that the signal has interrupted.
//
// REQUIRES: aarch64
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in -fmprof-unwind=tables -fmprof-unwind=frames \
// RUN:     '-fmprof-unwind=tables -fomit-frame-pointer'; do \
// RUN:   %mprof_clang -fmprof $flags -mbranch-protection=standard -O1 %s -o app && \
// RUN:   %run_quiet{heap_rate=1} ./app || exit 1; done

#include "../Inputs/records.h"

#include <signal.h>
#include <stdint.h>

enum { DEPTH = 6, SIZE = 3001, SIGNAL_SIZE = 3002, TIMES = 50 };

static int signed_frames;
static void *volatile block;

__attribute__((noinline, section("code_deep"))) static void deep(int n,
                                                                 int sig) {
  const uintptr_t *frame = __builtin_frame_address(0);
  signed_frames += frame[1] >> 48 != 0;
  if (n > 0)
    deep(n - 1, sig);
  else if (sig != 0)
    raise(sig);
  else
    block = malloc(SIZE);
  __asm__ volatile("" : : : "memory"); // no tail call
}

__attribute__((section("code_handler"))) static void handler(int sig) {
  (void)sig;
  block = malloc(SIGNAL_SIZE);
  __asm__ volatile("" : : : "memory");
}

extern char __start_code_deep[], __stop_code_deep[], __start_code_handler[],
    __stop_code_handler[];

struct found {
  size_t size;
  int buckets, deep, handler, odd;
};

static void look(const struct mprof_mem_bucket *b, void *arg) {
  struct found *f = arg;
  if (b->size != f->size)
    return;
  f->buckets++;
  for (size_t i = 0; i < b->stack_len; i++) {
    const uintptr_t pc = (uintptr_t)b->stack[i] - 1;
    f->odd += pc >> 48 != 0;
    f->deep += pc - (uintptr_t)__start_code_deep <
               (uintptr_t)(__stop_code_deep - __start_code_deep);
    f->handler += pc - (uintptr_t)__start_code_handler <
                  (uintptr_t)(__stop_code_handler - __start_code_handler);
  }
}

static struct found found_of(size_t size) {
  struct found f = {.size = size};
  counted_of(size);
  mprof_iterate_mem(look, &f);
  return f;
}

int main(void) {
  signal(SIGUSR1, handler);
  for (int i = 0; i < TIMES; i++) {
    deep(DEPTH - 1, 0);
    free(block);
    deep(DEPTH - 1, SIGUSR1);
    free(block);
  }
  // Otherwise this processor signs nothing, and the test shows nothing.
  NEED(signed_frames > TIMES);
  EXPECT(SIZE, 1, TIMES, TIMES);
  EXPECT(SIGNAL_SIZE, 1, TIMES, TIMES);
  const struct found plain = found_of(SIZE), by_signal = found_of(SIGNAL_SIZE);
  CHECK_EQ(plain.deep, DEPTH);
  CHECK_EQ(plain.odd, 0);
  CHECK_EQ(by_signal.handler, 1);
  CHECK_EQ(by_signal.deep, DEPTH);
  CHECK_EQ(by_signal.odd, 0);
  return 0;
}
