// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever bytes .eh_frame_hdr and .eh_frame have, the interpreter of
// unwind rules does not read outside of the module's mapping, nor of a section
// .eh_frame without a table. It does not run for ever or overflow an integer.
// An address always has the same rule, also if it is a guess and the module's
// bytes are copied. Only an address inside of a function has a rule.
//
// An input is the mapping of one module:
//   2 bytes: distance of the address asked for from the begin of its function
//   1 byte: position of .eh_frame_hdr in the module, in words of 4 bytes
//   the rest: the module
// This program defines the function by which the reader finds a module.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir seeds new
// RUN: seed() { (printf "$1"; cat bytes) > seeds/$2; }
// RUN: for cc in "%clang" gcc; do \
// RUN:   $cc -x c -DSEED -O1 -fomit-frame-pointer -fasynchronous-unwind-tables \
// RUN:     -fPIC -shared -nostdlib -Wl,--eh-frame-hdr %s -o seed.so && \
// RUN:   objcopy -O binary --only-section=.eh_frame_hdr \
// RUN:     --only-section=.eh_frame seed.so bytes && \
// RUN:   test $(stat -c %%s bytes) -gt 300 && \
// RUN:   for distance in 000_000 004_000 040_000 120_004; do \
// RUN:     seed '\'${distance/_/'\'}'\000' $(basename $cc)$distance; done; done
// RUN: %python -B %S/Inputs/eh_frame_seeds.py seeds
// RUN: %clang -std=c11 -D_GNU_SOURCE -g -O1 -DMPROF_RUNTIME \
// RUN:   %fuzzer \
// RUN:   -I%src/include -I%rt %s %rt/unwind/eh_frame.c -o fuzz
// RUN: %S/Inputs/run.sh -runs=60000 -max_len=4096 new

#ifdef SEED

// Functions whose frames need many kinds of instructions. Nothing runs them.

void use(volatile char *bytes, long length);

void leaf(void) {}

int large_frame(int depth) {
  volatile char bytes[10000];
  use(bytes, depth);
  return bytes[depth];
}

long many_registers(long a, long b, long c) {
  long v[12];
  for (int i = 0; i < 12; i++)
    v[i] = a * i + b;
  use((volatile char *)v, c);
  for (int i = 0; i < 12; i++)
    a ^= v[i] * (b += 3) + c;
  return a;
}

void variable_frame(long length) {
  volatile char bytes[length];
  use(bytes, length);
}

// Each instruction after the first is at a location of its own.
__asm__(".text\n"
        ".globl directives\n"
        "directives:\n"
        "  .cfi_startproc\n"
        "  .cfi_personality 0x9b, personality\n"
        "  .cfi_lsda 0x1b, lsda\n"
        "  .cfi_signal_frame\n"
        "  nop\n  .cfi_adjust_cfa_offset 8\n"
        "  nop\n  .cfi_rel_offset rbp, 0\n"
        "  nop\n  .cfi_remember_state\n"
        "  nop\n  .cfi_def_cfa rbp, 32\n"
        "  nop\n  .cfi_def_cfa_register rsp\n"
        "  nop\n  .cfi_def_cfa_offset 400\n"
        "  nop\n  .cfi_restore rbp\n"
        "  nop\n  .cfi_same_value rbp\n"
        "  nop\n  .cfi_register rbp, rax\n"
        "  nop\n  .cfi_undefined rbx\n"
        "  nop\n  .cfi_restore_state\n"
        "  nop\n  .cfi_escape 0x05, 0x06, 0x02\n"       // offset_extended
        "  nop\n  .cfi_escape 0x06, 0x06\n"             // restore_extended
        "  nop\n  .cfi_escape 0x11, 0x06, 0x7e\n"       // offset_extended_sf
        "  nop\n  .cfi_escape 0x12, 0x07, 0x7e\n"       // def_cfa_sf
        "  nop\n  .cfi_escape 0x13, 0x7c\n"             // def_cfa_offset_sf
        "  nop\n  .cfi_escape 0x14, 0x03, 0x02\n"       // val_offset
        "  nop\n  .cfi_escape 0x15, 0x03, 0x7e\n"       // val_offset_sf
        "  nop\n  .cfi_escape 0x2e, 0x10\n"             // GNU_args_size
        "  nop\n  .cfi_escape 0x10, 0x06, 1, 0x30\n"    // expression
        "  nop\n  .cfi_escape 0x16, 0x06, 1, 0x30\n"    // val_expression
        "  nop\n  .cfi_escape 0x0f, 3, 0x77, 8, 0x06\n" // def_cfa_expression
        "  .fill 100\n"
        "  .cfi_escape 0x0c, 0x07, 0x10\n" // def_cfa, behind advance_loc1
        "  .fill 1000\n"
        "  .cfi_undefined rip\n" // behind advance_loc2
        "  nop\n"
        "  .cfi_endproc\n"
        ".data\n"
        "personality: .quad 0\n"
        "lsda: .quad 0\n"
        ".section .note.GNU-stack,\"\",@progbits\n"
        ".text\n");

#else

#include "sys/os.h"
#include "unwind/rules.h"

#include <stdlib.h>
#include <string.h>

enum { FRONT = 3, MOST_ENTRIES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
  uint8_t *begin, *end, *header;
  uintptr_t pc; // address asked for; 0: the module does not exist
} module;

bool mprof_find_module(uintptr_t pc, struct mprof_code_module *m) {
  *m = (struct mprof_code_module){(uintptr_t)module.begin,
                                  (uintptr_t)module.end, module.header};
  return module.pc != 0 && pc == module.pc;
}

// AddressSanitizer checks each byte, unlike the kernel.
bool mprof_os_copy(void *to, uintptr_t from, size_t len) {
  memcpy(to, (const void *)from, len);
  return true;
}

static void ask(uintptr_t pc) {
  module.pc = pc;
  const struct mprof_cfa_rule rule = mprof_eh_rule(pc);
  const struct mprof_cfa_rule again = mprof_eh_rule(pc);
  bool is_in_module;
  const struct mprof_cfa_rule copied =
      mprof_eh_rule_of_guess(pc, &is_in_module);
  const struct mprof_code_range code = mprof_eh_function(pc);
  module.pc = 0;
  // Long entries are not copied.
  if (copied.base != MPROF_CFA_UNKNOWN &&
      (copied.base != rule.base || copied.cfa_words != rule.cfa_words))
    abort();
  if (rule.base > MPROF_CFA_ROOT || again.base != rule.base ||
      again.cfa_words != rule.cfa_words ||
      again.bp_is_saved != rule.bp_is_saved || again.bp_words != rule.bp_words)
    abort();
  const bool is_found = code.begin != 0 || code.end != 0;
  if (is_found ? pc < code.begin || pc >= code.end
               : rule.base != MPROF_CFA_UNKNOWN)
    abort();
}

// Asks the section alone, which is at this offset from the field `frame`.
static void ask_section(uintptr_t pc) {
  static struct mprof_window window;
  int32_t frame = 0;
  if (module.end - module.header < 8)
    return;
  memcpy(&frame, module.header + 4, sizeof(frame));
  const struct mprof_eh_section s = {(uintptr_t)module.header + 4 +
                                         (uintptr_t)(intptr_t)frame,
                                     (uintptr_t)module.end, pc};
  window.len = 0;
  if (s.start >= (uintptr_t)module.begin && s.start <= s.limit &&
      mprof_eh_rule_in(&s, pc, &window).base > MPROF_CFA_ROOT)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size <= FRONT)
    return 0;
  const uintptr_t distance = data[0] | (uintptr_t)data[1] << 8;
  const size_t at = data[2] * (size_t)4;
  size -= FRONT;
  if (at > size)
    return 0;
  // A block of exactly this size, so that AddressSanitizer finds reads beyond
  // it.
  uint8_t *bytes = malloc(size);
  memcpy(bytes, data + FRONT, size);
  module.begin = bytes;
  module.end = bytes + size;
  module.header = bytes + at;
  // Entries of the table begin behind 12 bytes and have 8 bytes each.
  for (size_t i = 0; i < MOST_ENTRIES; i++) {
    int32_t begin;
    const size_t entry = at + 12 + i * 8;
    if (entry + sizeof(begin) > size)
      break;
    memcpy(&begin, bytes + entry, sizeof(begin));
    const uintptr_t pc =
        (uintptr_t)module.header + (uintptr_t)(intptr_t)begin + distance;
    ask(pc);
    ask_section(pc);
  }
  ask((uintptr_t)module.header + distance);
  free(bytes);
  return 0;
}

#endif
