// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers in a ucontext_t of arm64; see sys/context.h. (Linux: struct
// rt_sigframe)

#ifndef MPROF_RT_SYS_CONTEXT_AARCH64_H
#define MPROF_RT_SYS_CONTEXT_AARCH64_H

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

#endif // MPROF_RT_SYS_CONTEXT_AARCH64_H
