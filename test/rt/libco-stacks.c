// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: stacks of a library like libco are stacks like any other. Such a
// library exchanges the stack pointer and the saved registers in a function
// without unwind tables. An allocation on its stack has all frames up to the
// first function, also when the stack lies in a block on the heap, and threads
// may exchange stacks.
//
// The test switches stacks by instructions of x86-64.
// REQUIRES: x86_64
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o cfi
// RUN: %mprof_clang -fmprof -O1 -g1 -fno-omit-frame-pointer -I%src/test/Inputs %s -o fp
// RUN: for app in cfi fp; do \
// RUN:   %run{heap_rate=1:log_path=$app.%%p} ./$app && FileCheck %s < $app.*.txt \
// RUN:   || exit 1; done
// CHECK-LABEL: allocated
// CHECK: in 4,000 blocks
// CHECK-NEXT: in leaf
// CHECK-NEXT: in middle
// CHECK-NEXT: in body

#include "records.h"

#include <pthread.h>
#include <stdint.h>

// Saves the registers of a call on the stack, stores the stack pointer in
// *from, and continues with the stack pointer `to`. Has no unwind tables.
void co_switch(void **from, void *to);
__asm__(
    ".text\n"
    ".globl co_switch\n"
    ".type co_switch, @function\n"
    "co_switch:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n"
    "  push %r15\n"
    "  mov %rsp, (%rdi)\n"
    "  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
    "  ret\n"
    ".size co_switch, .-co_switch\n");

enum { STACK = 32768, ROUNDS = 1000 };

struct co {
  void *sp, *caller;
  char *stack;
};

static __thread struct co *running;
static void *volatile sink;

__attribute__((noinline)) static void leaf(void) { free(sink = malloc(701)); }

__attribute__((noinline)) static void middle(void) {
  leaf();
  __asm__ volatile(""); // no tail call
}

__attribute__((noinline)) static struct co *self(void) { return running; }

static void body(void) {
  for (;;) {
    middle();
    struct co *me = self();
    co_switch(&me->sp, me->caller);
  }
}

static void resume(struct co *c) {
  running = c;
  co_switch(&c->caller, c->sp);
}

static void start(struct co *c) {
  c->stack = malloc(STACK);
  uintptr_t top = ((uintptr_t)c->stack + STACK) & ~(uintptr_t)15;
  void **sp = (void **)top;
  *--sp = 0;            // body has no caller
  *--sp = (void *)body; // co_switch returns to it
  for (int i = 0; i < 6; i++)
    *--sp = 0;
  c->sp = sp;
}

static struct co a, b;

static void *other(void *c) {
  for (int i = 0; i < ROUNDS; i++)
    resume(c);
  return 0;
}

int main(void) {
  start(&a);
  start(&b);
  for (int i = 0; i < ROUNDS; i++) {
    resume(&a);
    resume(&b);
  }
  pthread_t thread;
  pthread_create(&thread, 0, other, &a); // a continues in another thread
  other(&b);
  pthread_join(thread, 0);
  EXPECT(701, 1, 4 * ROUNDS, 4 * ROUNDS);
  return 0;
}
