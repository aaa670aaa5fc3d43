// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processor x86-64; see sys/arch.h. (System V ABI, AMD64 supplement)

#ifndef MPROF_RT_SYS_ARCH_X86_64_H
#define MPROF_RT_SYS_ARCH_X86_64_H

#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// --- system calls ---

enum { MPROF_SYSCALL_BYTES = 2, MPROF_ADDRESS_BITS = 47 };

__attribute__((always_inline)) static inline long
mprof_syscall_here(long nr, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static inline bool mprof_is_syscall_code(const void *code) {
  static const unsigned char instruction[] = {0x0f, 0x05};
  return memcmp(code, instruction, sizeof(instruction)) == 0;
}

// --- clock and pauses ---

#define MPROF_TRACE_TICK_DIV 64u // some ten nanoseconds

// The processor needs rdtscp and a time stamp counter that runs at the same
// speed in all power states (CPUID leaf 0x80000007, EDX bit 8).
static inline bool mprof_counter_is_even(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(d & 1u << 27)) // rdtscp
    return false;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

static inline uint64_t mprof_counter_ordered(void) {
  unsigned cpu;
  return __builtin_ia32_rdtscp(&cpu);
}

static inline uint64_t mprof_counter_about(void) {
  return __builtin_ia32_rdtsc();
}

static inline uint64_t mprof_counter_rate(void) { return 0; }

static inline void mprof_relax(void) { __builtin_ia32_pause(); }

// --- registers and stacks ---

enum { MPROF_RED_ZONE = 128 };

#define MPROF_ALIGNS_STACK __attribute__((force_align_arg_pointer))

struct mprof_saved {
  uintptr_t rbx, r12, r13, r14, r15;
};

#define MPROF_SAVE(s)                                                          \
  __asm__ volatile("movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\t"    \
                   "movq %%r14, %3\n\tmovq %%r15, %4"                          \
                   : "=m"((s)->rbx), "=m"((s)->r12), "=m"((s)->r13),           \
                     "=m"((s)->r14), "=m"((s)->r15))

static inline void mprof_clear_registers(void) {
  __asm__ volatile(
      "pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\t"
      "pxor %%xmm2, %%xmm2\n\tpxor %%xmm3, %%xmm3\n\t"
      "pxor %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm5\n\t"
      "pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7\n\t"
      "xorl %%esi, %%esi\n\txorl %%edi, %%edi\n\txorl %%edx, %%edx\n\t"
      "xorl %%r8d, %%r8d\n\txorl %%r9d, %%r9d\n\txorl %%r10d, %%r10d\n\t"
      "xorl %%r11d, %%r11d\n\txorl %%ecx, %%ecx"
      :
      :
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "rsi",
        "rdi", "rdx", "rcx", "r8", "r9", "r10", "r11");
}

static inline void mprof_call_on_stack(void (*f)(void), char *top) {
  __asm__ volatile("movq %%rsp, %%rbx\n\t"
                   "movq %[top], %%rsp\n\t"
                   "callq *%[f]\n\t"
                   "movq %%rbx, %%rsp"
                   :
                   : [top] "r"(top), [f] "r"(f)
                   : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9",
                     "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                     "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                     "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}

static inline void mprof_leave_to_stack(void (*f)(void *), void *arg,
                                        char *top) {
  __asm__ volatile("mov %0, %%rsp\n\t"
                   "xor %%ebp, %%ebp\n\t"
                   "call *%1\n\t"
                   "ud2"
                   :
                   : "r"(top), "a"(f), "D"(arg)
                   : "memory");
}

// --- unwinding ---

#define MPROF_RA_IS_PUSHED 1
enum {
  MPROF_DWARF_BP = 6,
  MPROF_DWARF_SP = 7,
  MPROF_DWARF_RA = 16,
  MPROF_BP_ALIGNMENT = 16
};

static inline uintptr_t mprof_return_address(uintptr_t word) { return word; }

static inline bool mprof_is_return_address(uintptr_t word, uintptr_t pc) {
  return word == pc;
}

// E8 with a 32-bit offset, or FF /2 with 2 to 7 bytes.
enum { MPROF_CALL_BYTES_MAX = 7 };
static inline bool mprof_follows_call(uintptr_t pc) {
  const unsigned char *code = (const unsigned char *)pc;
  if (code[-5] == 0xe8)
    return true;
  for (int bytes = 2; bytes <= MPROF_CALL_BYTES_MAX; bytes++)
    if (code[-bytes] == 0xff && (code[1 - bytes] & 0x38) == 0x10)
      return true;
  return false;
}

// add $N,%rsp; ret
enum { MPROF_LEAVE_BYTES = 5 };
static inline int mprof_leave_words(const unsigned char *code) {
  const bool leaves = code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4 &&
                      code[3] < 0x80 && code[3] % 8 == 0 && code[4] == 0xc3;
  return leaves ? code[3] / 8 + 1 : 0;
}

static inline bool mprof_skips_cfa(uint8_t op) { return (void)op, false; }

// jmp *offset(%rip), with or without endbr64 and a prefix before it.
static inline const unsigned char *mprof_linkage_jump(const void *function) {
  static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  enum { BND = 0xf2, JUMP = 0xff, BY_MEMORY = 0x25 };
  const unsigned char *code = function;
  if (memcmp(code, endbr64, sizeof(endbr64)) == 0)
    code += sizeof(endbr64);
  code += *code == BND;
  return code[0] == JUMP && code[1] == BY_MEMORY ? code : NULL;
}

// --- text for the assembler ---

#define MPROF_LANDING "endbr64\n"
#define MPROF_JUMP_THROUGH(Word) "jmpq *" Word "(%rip)\n"
#define MPROF_BIND(Word, Binder)                                               \
  "leaq " Word "(%rip), %r11\n"                                                \
  "jmp " Binder "\n"
#define MPROF_BINDER(Find)                                                     \
  "pushq %rax\n"                                                               \
  "pushq %rdi\n"                                                               \
  "pushq %rsi\n"                                                               \
  "pushq %rdx\n"                                                               \
  "pushq %rcx\n"                                                               \
  "pushq %r8\n"                                                                \
  "pushq %r9\n"                                                                \
  ".cfi_adjust_cfa_offset 56\n"                                                \
  "movq %r11, %rdi\n"                                                          \
  "callq " Find "\n"                                                           \
  "movq %rax, %r11\n"                                                          \
  "popq %r9\n"                                                                 \
  "popq %r8\n"                                                                 \
  "popq %rcx\n"                                                                \
  "popq %rdx\n"                                                                \
  "popq %rsi\n"                                                                \
  "popq %rdi\n"                                                                \
  "popq %rax\n"                                                                \
  ".cfi_adjust_cfa_offset -56\n"                                               \
  "jmpq *%r11\n"

// Relocations (elf.h) whose word is the address of a function: of calls, which
// may be bound lazily, of other calls, and of data.
#define MPROF_CALL_RELOCATION 7    // R_X86_64_JUMP_SLOT
#define MPROF_GOT_RELOCATION 6     // R_X86_64_GLOB_DAT
#define MPROF_ADDRESS_RELOCATION 1 // R_X86_64_64

#define MPROF_USDT_ARGS_1 "8@%%rdi"
#define MPROF_USDT_ARGS_3 "8@%%rdi 8@%%rsi 8@%%rdx"
#define MPROF_USDT_PLACE_1(Note, A) __asm__ volatile(Note : : "D"(A))
#define MPROF_USDT_PLACE_3(Note, A, B, C)                                      \
  __asm__ volatile(Note : : "D"(A), "S"(B), "d"(C))

#endif // MPROF_RT_SYS_ARCH_X86_64_H
