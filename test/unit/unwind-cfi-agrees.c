// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in code without frame pointers, MProf's unwinder finds the same
// callers as libgcc's unwinder. The test unwinds through libc, a thread, and
// frames that are shrink-wrapped, large or aligned. It also unwinds through
// calls with stack arguments and code that uses the frame pointer register
// otherwise. Cached unwind rules are used correctly and are forgotten on
// request.
//
// RUN: %clang -O2 -fomit-frame-pointer -fasynchronous-unwind-tables -DOTHERS \
// RUN:   -D_GNU_SOURCE -c %s -o %t.o
// RUN: %gcc -O2 -fomit-frame-pointer -DOTHERS -D_GNU_SOURCE -c -x c %s -o %t2.o \
// RUN:   -Dthrough=through_gcc
// RUN: %unit -D_GNU_SOURCE %s %t.o %t2.o %rtlib -o %t && %t

#ifdef OTHERS

#include <alloca.h>
#include <stdlib.h>
#include <string.h>

extern void leaf(void);
void through(int depth);

struct large {
  char bytes[200];
};

__attribute__((noinline)) static int shrink_wrapped(int depth) {
  if (depth == 1234567)
    return 0;
  volatile char used[100];
  used[depth % 100] = 1;
  through(depth);
  if (used[depth % 100] == 2)
    return 1;
  return used[depth % 100];
}

__attribute__((noinline)) static int much_stack(int depth) {
  volatile char used[300000];
  used[depth] = 1;
  through(depth);
  return used[depth];
}

__attribute__((noinline)) static int variable(int depth) {
  char *p = alloca(100 + (size_t)depth * 16);
  memset(p, 1, 100);
  through(depth);
  return p[depth];
}

__attribute__((noinline)) static int by_value(struct large a, long b, long c,
                                              long d, long e, long f, long g,
                                              int depth) {
  through(depth);
  return a.bytes[b + c + d + e + f + g];
}

// gcc computes the frame of this function by a DWARF expression, because the
// function aligns the stack and has arguments on it.
__attribute__((noinline)) static int aligned(struct large a, int depth) {
  volatile char used[64] __attribute__((aligned(64)));
  char *p = alloca(100 + (size_t)depth * 16);
  memset(p, 1, 100);
  used[depth % 64] = 1;
  through(depth);
  return p[depth] + used[depth % 64] + a.bytes[depth];
}

__attribute__((noinline)) static long many_registers(long a, long b,
                                                     int depth) {
  long v[12];
  for (int i = 0; i < 12; i++)
    v[i] = a * i + b;
  through(depth);
  for (int i = 0; i < 12; i++)
    a ^= v[i] * (b += 3);
  return a;
}

// Puts a value into the frame pointer register that is not an address.
#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x
__attribute__((visibility("hidden"))) extern void odd_frame_pointer(int depth);
#ifdef __x86_64__
__asm__(
    ".text\n"
    ".type odd_frame_pointer, @function\n"
    "odd_frame_pointer:\n"
    "  .cfi_startproc\n"
    "  pushq %rbp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_rel_offset rbp, 0\n"
    "  movq $12345, %rbp\n"
    "  call " TEXT(through) "\n"
                            "  popq %rbp\n"
                            "  .cfi_adjust_cfa_offset -8\n"
                            "  .cfi_restore rbp\n"
                            "  ret\n"
                            "  .cfi_endproc\n"
                            ".size odd_frame_pointer, . - odd_frame_pointer\n");
#else
__asm__(
    ".text\n"
    ".type odd_frame_pointer, @function\n"
    "odd_frame_pointer:\n"
    "  .cfi_startproc\n"
    "  stp x29, x30, [sp, #-16]!\n"
    "  .cfi_def_cfa_offset 16\n"
    "  .cfi_offset x29, -16\n"
    "  .cfi_offset x30, -8\n"
    "  mov x29, #12345\n"
    "  bl " TEXT(through) "\n"
                          "  ldp x29, x30, [sp], #16\n"
                          "  .cfi_def_cfa_offset 0\n"
                          "  .cfi_restore x29\n"
                          "  .cfi_restore x30\n"
                          "  ret\n"
                          "  .cfi_endproc\n"
                          ".size odd_frame_pointer, . - odd_frame_pointer\n");
#endif

static int wanted;
static int compare(const void *a, const void *b) {
  if (wanted) {
    int depth = wanted;
    wanted = 0;
    through(depth);
  }
  return memcmp(a, b, 4);
}

// Each kind of frame calls every other kind.
void through(int depth) {
  struct large l = {{0}};
  char sorted[] = "edcba98";
  if (depth-- == 0) {
    leaf();
    return;
  }
  switch (depth % 8) {
  case 0:
    shrink_wrapped(depth);
    break;
  case 1:
    much_stack(depth);
    break;
  case 2:
    variable(depth);
    break;
  case 3:
    by_value(l, 1, 2, 3, 4, 5, 6, depth);
    break;
  case 4:
    many_registers(depth, 7, depth);
    break;
  case 5:
    odd_frame_pointer(depth);
    break;
  case 6:
    aligned(l, depth);
    break;
  default:
    wanted = depth;
    if (depth == 0)
      through(0);
    else
      qsort(sorted, 2, 4, compare);
  }
  __asm__ volatile("" ::: "memory");
}

#else

#include "core.h"

#include "sys/os.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <pthread.h>

extern void through(int depth), through_gcc(int depth);

// On this include path <unwind.h> is a different file.
extern int _Unwind_Backtrace(int (*fn)(void *context, void *arg), void *arg);
extern uintptr_t _Unwind_GetIP(void *context);

enum { MOST = 200 };
static uintptr_t theirs[MOST];
static size_t theirs_len;
static int leaves;

static int note(void *c, void *arg) {
  (void)arg;
  if (theirs_len < MOST)
    theirs[theirs_len++] = (uintptr_t)_Unwind_GetIP(c);
  return 0;
}

__attribute__((noinline)) void leaf(void) {
  mprof_pc ours[MOST];
  enum mprof_stack_end end;
  struct mprof_stack_range range =
      mprof_stack_range_of_thread(mprof_sys_gettid() == mprof_sys_getpid());
  for (int again = 0; again < 2; again++) {
    size_t n = mprof_unwind_cfi(&range, (uintptr_t)__builtin_frame_address(0),
                                ours, MOST, &end);
    theirs_len = 0;
    _Unwind_Backtrace(note, NULL);
    CHECK_EQ(end, MPROF_STACK_COMPLETE);
    // libgcc's stack also has leaf itself, and the callers of the root.
    CHECK(n + 1 <= theirs_len && n + 1 + 4 >= theirs_len);
    for (size_t i = 0; i < n; i++)
      CHECK_EQ(ours[i], theirs[i + 1]);
    // The stack is cut where the buffer ends.
    CHECK_EQ(mprof_unwind_cfi(&range, (uintptr_t)__builtin_frame_address(0),
                              ours, 1, &end),
             1);
  }
  leaves++;
}

static void *all(void *arg) {
  for (int depth = 0; depth < 32; depth++) {
    through(depth);
    through_gcc(depth);
    if (depth == 15)
      mprof_unwind_forget();
  }
  return arg;
}

int main(void) {
  pthread_t t;
  mprof_unwind_init();
  all(NULL);
  CHECK_EQ(leaves, 64);
  CHECK_EQ(pthread_create(&t, NULL, all, NULL), 0);
  pthread_join(t, NULL);
  CHECK_EQ(leaves, 128);
  return 0;
}
#endif
