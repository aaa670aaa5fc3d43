// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fibers, each with a stack of its own. With UCONTEXT, they use makecontext and
// swapcontext. Otherwise they do what libco does on x86-64: a function without
// unwind tables exchanges the stack pointer and the saved registers. libco puts
// the address of a function that ends the program where the first function of a
// fiber has its return address, and leaves the frame pointer register of a new
// fiber as its memory is.

#ifndef MPROF_TEST_INPUTS_FIBERS_H
#define MPROF_TEST_INPUTS_FIBERS_H

#include "check.h"

#include <stdint.h>
#include <ucontext.h>

struct fiber {
#ifdef UCONTEXT
  ucontext_t self, caller;
#else
  uint64_t self[8], caller[8]; // rsp, rbp, rbx, r12 to r15
#endif
  void (*run)(void *);
  void *argument;
  int has_ended;
};

// The fiber that the thread runs.
static __thread struct fiber *running_fiber;

__attribute__((noinline)) static struct fiber *this_fiber(void) {
  __asm__ volatile(""); // the thread may change between two calls
  return running_fiber;
}

#ifdef UCONTEXT

static inline void fiber_yield(void) {
  struct fiber *f = this_fiber();
  NEED(swapcontext(&f->self, &f->caller) == 0);
}

#else

void fiber_swap(uint64_t *to, uint64_t *from);
__asm__(".text\n"
        ".globl fiber_swap\n"
        ".type fiber_swap, @function\n"
        "fiber_swap:\n"
        "  mov %rsp, (%rsi)\n"
        "  mov (%rdi), %rsp\n"
        "  pop %rax\n"
        "  mov %rbp, 8(%rsi)\n  mov %rbx, 16(%rsi)\n  mov %r12, 24(%rsi)\n"
        "  mov %r13, 32(%rsi)\n  mov %r14, 40(%rsi)\n  mov %r15, 48(%rsi)\n"
        "  mov 8(%rdi), %rbp\n  mov 16(%rdi), %rbx\n  mov 24(%rdi), %r12\n"
        "  mov 32(%rdi), %r13\n  mov 40(%rdi), %r14\n  mov 48(%rdi), %r15\n"
        "  jmp *%rax\n"
        ".size fiber_swap, .-fiber_swap\n");

static inline void fiber_yield(void) {
  struct fiber *f = this_fiber();
  fiber_swap(f->caller, f->self);
}

// The first function of a fiber must not return.
#ifdef AT_PAGE
// fiber_crash is the first function of a page, so the byte before it is on
// another page.
__attribute__((noinline, aligned(4096))) static void fiber_crash(void) {
  abort();
}
#elif defined(ADJACENT)
void fiber_crash(void);
// Another function with unwind tables ends where fiber_crash begins.
__asm__("fiber_before_crash:\n"
        "  .cfi_startproc\n"
        "  push %rbx\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  pop %rbx\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".globl fiber_crash\n"
        "fiber_crash:\n"
        "  .cfi_startproc\n"
        "  ud2\n"
        "  .cfi_endproc\n");
#else
__attribute__((noinline)) static void fiber_crash(void) { abort(); }
#endif

#endif

static void fiber_main(void) {
  struct fiber *f = this_fiber();
  f->run(f->argument);
  f->has_ended = 1;
  for (;;)
    fiber_yield();
}

// Makes a fiber that runs run(argument) on the stack of this size.
static inline void fiber_make(struct fiber *f, void *stack, size_t size,
                              void (*run)(void *), void *argument) {
  f->run = run;
  f->argument = argument;
  f->has_ended = 0;
#ifdef UCONTEXT
  NEED(getcontext(&f->self) == 0);
  f->self.uc_stack.ss_sp = stack;
  f->self.uc_stack.ss_size = size;
  f->self.uc_link = NULL;
  makecontext(&f->self, fiber_main, 0);
#else
  uint64_t *sp = (uint64_t *)(((uintptr_t)stack + size) & -(uintptr_t)16);
  *--sp = (uintptr_t)fiber_crash;
  *--sp = (uintptr_t)fiber_main;
  memset(f->self, 0x5a, sizeof(f->self));
  f->self[0] = (uintptr_t)sp;
#endif
}

// Runs the fiber until it yields.
__attribute__((noinline)) static void fiber_resume(struct fiber *f) {
  struct fiber *before = this_fiber();
  running_fiber = f;
#ifdef UCONTEXT
  NEED(swapcontext(&f->caller, &f->self) == 0);
#else
  fiber_swap(f->self, f->caller);
#endif
  running_fiber = before;
}

#endif // MPROF_TEST_INPUTS_FIBERS_H
