// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers in a ucontext_t of x86-64; see sys/context.h. (Linux: struct
// rt_sigframe)

#ifndef MPROF_RT_SYS_CONTEXT_X86_64_H
#define MPROF_RT_SYS_CONTEXT_X86_64_H

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

#endif // MPROF_RT_SYS_CONTEXT_X86_64_H
