// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of interrupted code. The kernel saves them on the stack before
// it calls a signal handler (ucontext_t). Each processor defines the same
// names:
//   mprof_context_pc(u), mprof_context_sp(u), mprof_context_bp(u)
//     the program counter, the stack pointer and the frame pointer.
//   mprof_context_link(u)
//     the register into which calls put the return address; 0 if there is none.
//   MPROF_CONTEXT_AT
//     distance of the ucontext_t from the stack pointer that a signal handler
//     has when it returns.
//   MPROF_SIGNAL_RETURN_BYTES, mprof_is_signal_return_code(code)
//     whether code has the instructions to which a signal handler returns.
//     Debuggers use the same test.
//   mprof_context_call(u, was_over, args)
//     the number of the system call that was interrupted, and its arguments.
//     was_over: the call has failed with EINTR. -1: the registers do not have
//     the number.
//   mprof_context_result(u), MPROF_RESULT_REPLACES_NUMBER
//     the result of the system call; whether it is in the register that had the
//     number of the call.
//   mprof_context_made_root(u, stack, size)
//     address to which the function returns that makecontext has prepared on
//     this stack; 0 if it is not known.
//   mprof_context_registers(u, size), mprof_context_vectors(u, size)
//     where the registers of these two kinds are, and the size of this memory.

#ifndef MPROF_RT_SYS_CONTEXT_H
#define MPROF_RT_SYS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__)

// (Linux: struct rt_sigframe of x86)
enum {
  MPROF_CONTEXT_AT = 0,
  MPROF_SIGNAL_RETURN_BYTES = 9,
  MPROF_RESULT_REPLACES_NUMBER = 1
};

static inline uintptr_t mprof_context_pc(const ucontext_t *u) {
  return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
}
static inline uintptr_t mprof_context_sp(const ucontext_t *u) {
  return (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
}
static inline uintptr_t mprof_context_bp(const ucontext_t *u) {
  return (uintptr_t)u->uc_mcontext.gregs[REG_RBP];
}
static inline uintptr_t mprof_context_link(const ucontext_t *u) {
  return (void)u, 0;
}

// The instructions of glibc and of musl.
static inline bool mprof_is_signal_return_code(const void *code) {
  static const unsigned char glibc[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
                                        0,    0,    0x0f, 0x05};
  static const unsigned char musl[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
  return memcmp(code, glibc, sizeof(glibc)) == 0 ||
         memcmp(code, musl, sizeof(musl)) == 0;
}

static inline long mprof_context_result(const ucontext_t *u) {
  return (long)u->uc_mcontext.gregs[REG_RAX];
}
// The result of a call that is over replaces the number of the call.
static inline long mprof_context_call(const ucontext_t *u, bool was_over,
                                      uint64_t args[6]) {
  const greg_t *r = u->uc_mcontext.gregs;
  args[0] = (uint64_t)r[REG_RDI];
  args[1] = (uint64_t)r[REG_RSI];
  args[2] = (uint64_t)r[REG_RDX];
  args[3] = (uint64_t)r[REG_R10];
  args[4] = (uint64_t)r[REG_R8];
  args[5] = (uint64_t)r[REG_R9];
  return was_over ? -1 : (long)r[REG_RAX];
}

static inline uintptr_t
mprof_context_made_root(const ucontext_t *u, const char *stack, size_t size) {
  const uintptr_t sp = mprof_context_sp(u);
  return sp - (uintptr_t)stack <= size - sizeof(uintptr_t)
             ? *(const uintptr_t *)sp
             : 0;
}

static inline const void *mprof_context_registers(const ucontext_t *u,
                                                  size_t *size) {
  *size = sizeof(u->uc_mcontext.gregs);
  return u->uc_mcontext.gregs;
}
static inline const void *mprof_context_vectors(const ucontext_t *u,
                                                size_t *size) {
  enum { LEGACY = 512, EXTENDED_AT = 464, MAX = 16384 };
  const char *v = (const char *)u->uc_mcontext.fpregs;
  const uint32_t magic = 0x46505853;
  uint32_t words[2];
  *size = 0;
  if (!v)
    return NULL;
  memcpy(words, v + EXTENDED_AT, sizeof(words));
  *size = words[0] == magic ? words[1] : LEGACY;
  if (*size > MAX)
    *size = MAX;
  return v;
}

#elif defined(__aarch64__)

// A siginfo_t precedes the ucontext_t.
enum {
  MPROF_CONTEXT_AT = 128,
  MPROF_SIGNAL_RETURN_BYTES = 8,
  MPROF_RESULT_REPLACES_NUMBER = 0
};

static inline uintptr_t mprof_context_pc(const ucontext_t *u) {
  return u->uc_mcontext.pc;
}
static inline uintptr_t mprof_context_sp(const ucontext_t *u) {
  return u->uc_mcontext.sp;
}
static inline uintptr_t mprof_context_bp(const ucontext_t *u) {
  return u->uc_mcontext.regs[29];
}
static inline uintptr_t mprof_context_link(const ucontext_t *u) {
  return u->uc_mcontext.regs[30];
}

// The kernel has these instructions in its vdso: mov x8, #139; svc #0.
static inline bool mprof_is_signal_return_code(const void *code) {
  static const uint32_t vdso[] = {0xd2801168, 0xd4000001};
  return memcmp(code, vdso, sizeof(vdso)) == 0;
}

static inline long mprof_context_result(const ucontext_t *u) {
  return (long)u->uc_mcontext.regs[0];
}
// The result of a call that is over replaces the first argument of the call. A
// function that repeats the call has kept the argument in a register that calls
// do not change. So the code has "mov x0, xN" shortly before the call. Reads
// code of the page of the call only. Returns 0 if it has no such instruction.
static inline uint64_t mprof_context_kept_argument(const ucontext_t *u) {
  enum { NEAR = 8, PAGE = 4096, KEPT_FROM = 19, KEPT_TO = 28 };
  const uint32_t mov_x0 = 0xaa0003e0, other = 0xffe0ffff;
  const uint32_t *call = (const uint32_t *)mprof_context_pc(u) - 1;
  for (size_t i = 1; i <= NEAR && (uintptr_t)call % PAGE >= 4 * i; i++) {
    const uint32_t code = *(call - i), from = code >> 16 & 31;
    if ((code & other) == mov_x0)
      return from >= KEPT_FROM && from <= KEPT_TO ? u->uc_mcontext.regs[from]
                                                  : 0;
  }
  return 0;
}

static inline long mprof_context_call(const ucontext_t *u, bool was_over,
                                      uint64_t args[6]) {
  for (int i = 0; i < 6; i++)
    args[i] = u->uc_mcontext.regs[i];
  if (was_over)
    args[0] = mprof_context_kept_argument(u);
  return (long)(int)u->uc_mcontext.regs[8];
}

static inline uintptr_t
mprof_context_made_root(const ucontext_t *u, const char *stack, size_t size) {
  (void)stack, (void)size;
  return mprof_context_link(u);
}

static inline const void *mprof_context_registers(const ucontext_t *u,
                                                  size_t *size) {
  *size = sizeof(u->uc_mcontext.regs);
  return u->uc_mcontext.regs;
}
// The kernel saves the vector registers in a list of records.
static inline const void *mprof_context_vectors(const ucontext_t *u,
                                                size_t *size) {
  *size = sizeof(u->uc_mcontext.__reserved);
  return u->uc_mcontext.__reserved;
}

#else
#error "MProf supports x86-64 and arm64"
#endif

#endif // MPROF_RT_SYS_CONTEXT_H
