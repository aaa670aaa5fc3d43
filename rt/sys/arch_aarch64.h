// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processor arm64 (AArch64); see sys/arch.h. (Arm: AAPCS64, AADWARF64)

#ifndef MPROF_RT_SYS_ARCH_AARCH64_H
#define MPROF_RT_SYS_ARCH_AARCH64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// --- system calls ---

enum { MPROF_SYSCALL_BYTES = 4, MPROF_ADDRESS_BITS = 48 };

__attribute__((always_inline)) static inline long
mprof_syscall_here(long nr, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = nr;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}

static inline bool mprof_is_syscall_code(const void *code) {
  const uint32_t instruction = 0xd4000001; // svc #0
  return memcmp(code, &instruction, sizeof(instruction)) == 0;
}

// --- clock and pauses ---

#define MPROF_TRACE_TICK_DIV 16u // the counter is slower than on x86-64

// The counter of the generic timer runs at the same speed in all states.
static inline bool mprof_counter_is_even(void) { return true; }

static inline uint64_t mprof_counter_about(void) {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

static inline uint64_t mprof_counter_ordered(void) {
  __asm__ volatile("isb" : : : "memory");
  return mprof_counter_about();
}

static inline uint64_t mprof_counter_rate(void) {
  uint64_t rate;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
  return rate;
}

// Most processors treat `yield` as a nop. `isb` takes about as long as the
// `pause` of x86-64.
static inline void mprof_relax(void) { __asm__ volatile("isb"); }

// --- registers and stacks ---

enum { MPROF_RED_ZONE = 0 };

#define MPROF_ALIGNS_STACK // the stack pointer is always aligned

struct mprof_saved {
  uintptr_t x[10]; // x19 to x28
};

#define MPROF_SAVE(s)                                                          \
  __asm__ volatile("stp x19, x20, [%1]\n\tstp x21, x22, [%1, #16]\n\t"         \
                   "stp x23, x24, [%1, #32]\n\tstp x25, x26, [%1, #48]\n\t"    \
                   "stp x27, x28, [%1, #64]"                                   \
                   : "=m"(*(s))                                                \
                   : "r"((s)->x))

static inline void mprof_clear_registers(void) {
  __asm__ volatile("movi v0.2d, #0\n\tmovi v1.2d, #0\n\tmovi v2.2d, #0\n\t"
                   "movi v3.2d, #0\n\tmovi v4.2d, #0\n\tmovi v5.2d, #0\n\t"
                   "movi v6.2d, #0\n\tmovi v7.2d, #0\n\t"
                   "mov x0, xzr\n\tmov x1, xzr\n\tmov x2, xzr\n\t"
                   "mov x3, xzr\n\tmov x4, xzr\n\tmov x5, xzr\n\t"
                   "mov x6, xzr\n\tmov x7, xzr\n\tmov x8, xzr\n\t"
                   "mov x9, xzr\n\tmov x10, xzr\n\tmov x11, xzr\n\t"
                   "mov x12, xzr\n\tmov x13, xzr\n\tmov x14, xzr\n\t"
                   "mov x15, xzr"
                   :
                   :
                   : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "x0", "x1",
                     "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
                     "x11", "x12", "x13", "x14", "x15");
}

// All vector registers are listed, although a called function keeps the lower
// halves of v8 to v15.
static inline void mprof_call_on_stack(void (*f)(void), char *top) {
  register void (*callee)(void) __asm__("x9") = f;
  register char *new_sp __asm__("x10") = top;
  __asm__ volatile("mov x19, sp\n\t"
                   "mov sp, %1\n\t"
                   "blr %0\n\t"
                   "mov sp, x19"
                   : "+r"(callee), "+r"(new_sp)
                   :
                   : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8",
                     "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18",
                     "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
                     "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
                     "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
                     "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31",
                     "memory", "cc");
}

static inline void mprof_leave_to_stack(void (*f)(void *), void *arg,
                                        char *top) {
  register void *first __asm__("x0") = arg;
  register void (*callee)(void *) __asm__("x9") = f;
  __asm__ volatile("mov sp, %2\n\t"
                   "mov x29, xzr\n\t"
                   "mov x30, xzr\n\t"
                   "blr %1\n\t"
                   "brk #1"
                   :
                   : "r"(first), "r"(callee), "r"(top)
                   : "memory");
}

// --- unwinding ---

#define MPROF_RA_IS_PUSHED 0
enum {
  MPROF_DWARF_BP = 29,
  MPROF_DWARF_SP = 31,
  MPROF_DWARF_RA = 30,
  MPROF_BP_ALIGNMENT = 8
};

// Removes the signature (PAC) from the upper bits of a return address. The
// instruction is xpaclri, which knows the number of address bits. Processors
// without signatures do nothing.
static inline uintptr_t mprof_return_address(uintptr_t word) {
  register uintptr_t x30 __asm__("x30") = word;
  __asm__("hint #7" : "+r"(x30));
  return x30;
}

static inline bool mprof_is_return_address(uintptr_t word, uintptr_t pc) {
  return word == pc ||
         __builtin_expect(
             (word ^ pc) >> 32 != 0 && mprof_return_address(word) == pc, 0);
}

// bl with an offset, and blr with its forms that check a signature.
enum { MPROF_CALL_BYTES_MAX = 4 };
static inline bool mprof_follows_call(uintptr_t pc) {
  uint32_t code;
  memcpy(&code, (const void *)(pc - sizeof(code)), sizeof(code));
  return (code & 0xfc000000) == 0x94000000 || (code & 0xfefff000) == 0xd63f0000;
}

// Compilers keep frame records here.
enum { MPROF_LEAVE_BYTES = 1 };
static inline int mprof_leave_words(const unsigned char *code) {
  return (void)code, 0;
}

// DW_CFA_AARCH64_negate_ra_state tells whether the return address is signed.
// mprof_return_address does not need to know. (0x2c: ..._with_pc)
static inline bool mprof_skips_cfa(uint8_t op) {
  return op == 0x2d || op == 0x2c;
}

// adrp x16, page; ldr x17, [x16, offset], with or without bti c before them.
static inline const uint32_t *mprof_linkage_jump(const void *function) {
  enum { BTI_C = 0xd503245f };
  const uint32_t *code = function;
  code += *code == BTI_C;
  return (code[0] & 0x9f00001f) == 0x90000010 &&
                 (code[1] & 0xffc003ff) == 0xf9400211
             ? code
             : NULL;
}

// --- text for the assembler ---

#define MPROF_LANDING "hint #34\n" // bti c
#define MPROF_JUMP_THROUGH(Word)                                               \
  "adrp x16, " Word "\n"                                                       \
  "ldr x16, [x16, :lo12:" Word "]\n"                                           \
  "br x16\n"
#define MPROF_BIND(Word, Binder)                                               \
  "adrp x16, " Word "\n"                                                       \
  "add x16, x16, :lo12:" Word "\n"                                             \
  "b " Binder "\n"
#define MPROF_BINDER(Find)                                                     \
  "stp x29, x30, [sp, #-96]!\n"                                                \
  ".cfi_def_cfa_offset 96\n"                                                   \
  ".cfi_offset x29, -96\n"                                                     \
  ".cfi_offset x30, -88\n"                                                     \
  "mov x29, sp\n"                                                              \
  "stp x0, x1, [sp, #16]\n"                                                    \
  "stp x2, x3, [sp, #32]\n"                                                    \
  "stp x4, x5, [sp, #48]\n"                                                    \
  "stp x6, x7, [sp, #64]\n"                                                    \
  "str x8, [sp, #80]\n"                                                        \
  "mov x0, x16\n"                                                              \
  "bl " Find "\n"                                                              \
  "mov x16, x0\n"                                                              \
  "ldr x8, [sp, #80]\n"                                                        \
  "ldp x6, x7, [sp, #64]\n"                                                    \
  "ldp x4, x5, [sp, #48]\n"                                                    \
  "ldp x2, x3, [sp, #32]\n"                                                    \
  "ldp x0, x1, [sp, #16]\n"                                                    \
  "ldp x29, x30, [sp], #96\n"                                                  \
  ".cfi_def_cfa_offset 0\n"                                                    \
  ".cfi_restore x29\n"                                                         \
  ".cfi_restore x30\n"                                                         \
  "br x16\n"

// Relocations (elf.h) whose word is the address of a function: of calls, which
// may be bound lazily, of other calls, and of data.
#define MPROF_CALL_RELOCATION 1026   // R_AARCH64_JUMP_SLOT
#define MPROF_GOT_RELOCATION 1025    // R_AARCH64_GLOB_DAT
#define MPROF_ADDRESS_RELOCATION 257 // R_AARCH64_ABS64

#define MPROF_USDT_ARGS_1 "8@x0"
#define MPROF_USDT_ARGS_3 "8@x0 8@x1 8@x2"
#define MPROF_USDT_PLACE_1(Note, A)                                            \
  do {                                                                         \
    register uint64_t usdt_a_ __asm__("x0") = (uint64_t)(A);                   \
    __asm__ volatile(Note : : "r"(usdt_a_));                                   \
  } while (0)
#define MPROF_USDT_PLACE_3(Note, A, B, C)                                      \
  do {                                                                         \
    const uint64_t usdt_1_ = (uint64_t)(A), usdt_2_ = (uint64_t)(B),           \
                   usdt_3_ = (uint64_t)(C);                                    \
    register uint64_t usdt_a_ __asm__("x0") = usdt_1_;                         \
    register uint64_t usdt_b_ __asm__("x1") = usdt_2_;                         \
    register uint64_t usdt_c_ __asm__("x2") = usdt_3_;                         \
    __asm__ volatile(Note : : "r"(usdt_a_), "r"(usdt_b_), "r"(usdt_c_));       \
  } while (0)

#endif // MPROF_RT_SYS_ARCH_AARCH64_H
