// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes the instruction of a call, for thread_unnoted.c.

#ifndef MPROF_RT_THREAD_STACKS_CALL_CODE_H
#define MPROF_RT_THREAD_STACKS_CALL_CODE_H

#include "lock_wait/hooked.h"
#include "sys/arch.h"
#include "sys/os_memory.h"

#include <string.h>

// Returns the address of the function that was called by the call instruction
// before the return address pc. Returns 0 if the instruction contains neither
// the address of the function nor the address of a pointer to the function, and
// does not call a hooked function through a register. The kernel copies the
// code (mprof_os_peek), because its module may be unloaded at any time.
static uintptr_t called_before(uintptr_t pc);

// Returns the pointer at `slot`, or 0.
static uintptr_t peek_pointer(uintptr_t slot) {
  uintptr_t target;
  return mprof_os_peek(slot, &target, sizeof(target)) == sizeof(target) ? target
                                                                        : 0;
}

#if defined(__x86_64__)

static uintptr_t relative(const unsigned char *p, uintptr_t next) {
  int32_t offset;
  memcpy(&offset, p, sizeof(offset));
  return next + (uintptr_t)(intptr_t)offset;
}

// Returns the address to which the code at `stub` jumps, if the code is an
// entry of a procedure linkage table. Otherwise returns `stub`.
static uintptr_t past_stub(uintptr_t stub) {
  enum { OFFSET_AT = 2, JUMP_BYTES = 6 };
  unsigned char code[16];
  if (mprof_os_peek(stub, code, sizeof(code)) != sizeof(code))
    return stub;
  const unsigned char *jump = mprof_linkage_jump(code);
  if (jump == NULL)
    return stub;
  const uintptr_t end = stub + (uintptr_t)(jump - code) + JUMP_BYTES;
  const uintptr_t target = peek_pointer(relative(jump + OFFSET_AT, end));
  return target != 0 ? target : stub;
}

// Returns the function that was called through a register by the call
// instruction before the return address pc. Sites with a switch (hooked.h)
// and no stub load the register from memory shortly before. Searches backwards
// for this load, because the lengths of the instructions between are unknown.
// Returns 0 if no load of a hooked function is found.
static uintptr_t called_by_register(uintptr_t pc) {
  enum { SPAN = 64, LOAD = 7, GROUP = 0xff, CALL = 0xd0, LOADS = 0x8b };
  enum { REX_WIDE = 0x48, REX_HIGH_OF_LOAD = 4, REX_HIGH = 0x41 };
  unsigned char code[SPAN];
  struct mprof_hook hook;
  if (mprof_os_peek(pc - SPAN, code, SPAN) != SPAN || code[SPAN - 2] != GROUP ||
      (code[SPAN - 1] & 0xf8) != CALL)
    return 0;
  const unsigned reg = code[SPAN - 1] & 7;
  const bool is_high = code[SPAN - 3] == REX_HIGH;
  for (size_t i = SPAN - 2 - is_high - LOAD + 1; i-- > 0;) {
    if (code[i] != (REX_WIDE | (is_high ? REX_HIGH_OF_LOAD : 0)) ||
        code[i + 1] != LOADS || code[i + 2] != (reg << 3 | 5))
      continue;
    const uintptr_t next = pc - SPAN + i + LOAD;
    const uintptr_t target = peek_pointer(relative(code + i + 3, next));
    if (target != 0 && mprof_hook_at(target, &hook))
      return target;
  }
  return 0;
}

static uintptr_t called_before(uintptr_t pc) {
  enum { LEN = 6, CALL = 0xe8, GROUP = 0xff, BY_MEMORY = 0x15 };
  unsigned char code[LEN];
  const uintptr_t hooked = called_by_register(pc);
  if (hooked != 0)
    return hooked;
  if (mprof_os_peek(pc - LEN, code, LEN) != LEN)
    return 0;
  if (code[0] == GROUP && code[1] == BY_MEMORY)
    return peek_pointer(relative(code + 2, pc));
  return code[1] == CALL ? past_stub(relative(code + 2, pc)) : 0;
}

#elif defined(__aarch64__)

// Returns the address in register n to which the instruction `adrp` at `at`
// adds its operand. Returns 0 if there is another instruction.
static uintptr_t page_of(uint32_t adrp, unsigned n, uintptr_t at) {
  if ((adrp & 0x9f00001f) != (0x90000000 | n))
    return 0;
  const uint32_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
  const int64_t offset = (int64_t)((uint64_t)pages << 43) >> 31;
  return (at & ~UINT64_C(4095)) + (uintptr_t)offset;
}

// Returns whether `ldr` loads register `to` from memory at register `from` plus
// an offset in bytes, and stores this offset.
static bool loads(uint32_t ldr, unsigned to, unsigned from, uintptr_t *offset) {
  *offset = (uintptr_t)(ldr >> 10 & 0xfff) * 8;
  return (ldr & 0xffc003ff) == (0xf9400000 | from << 5 | to);
}

// Returns the address to which the code at `stub` jumps, if the code is an
// entry of a procedure linkage table. Otherwise returns `stub`.
static uintptr_t past_stub(uintptr_t stub) {
  uint32_t code[4];
  uintptr_t offset;
  if (mprof_os_peek(stub, code, sizeof(code)) != sizeof(code))
    return stub;
  const uint32_t *jump = mprof_linkage_jump(code);
  if (jump == NULL)
    return stub;
  const uintptr_t page =
      page_of(*jump, 16, stub + sizeof(*jump) * (uintptr_t)(jump - code));
  if (page == 0 || !loads(jump[1], 17, 16, &offset))
    return stub;
  const uintptr_t target = peek_pointer(page + offset);
  return target != 0 ? target : stub;
}

// Returns the function that was called through register n by the call
// instruction before the return address pc. Sites with a switch (hooked.h)
// and no stub load the register from memory shortly before. Returns 0 if no
// load of a hooked function is found.
static uintptr_t called_by_register(uintptr_t pc, unsigned n) {
  enum { SPAN = 24, BYTES = 4 };
  uint32_t code[SPAN];
  struct mprof_hook hook;
  uintptr_t offset;
  if (mprof_os_peek(pc - sizeof(code), code, sizeof(code)) != sizeof(code))
    return 0;
  for (size_t i = SPAN - 1; i-- > 0;) {
    const unsigned from = code[i] >> 5 & 31;
    if (!loads(code[i], n, from, &offset))
      continue;
    for (size_t j = i; j-- > 0;) {
      const uintptr_t page =
          page_of(code[j], from, pc - sizeof(code) + BYTES * j);
      const uintptr_t target = page != 0 ? peek_pointer(page + offset) : 0;
      if (target != 0 && mprof_hook_at(target, &hook))
        return target;
    }
  }
  return 0;
}

static uintptr_t called_before(uintptr_t pc) {
  uint32_t code;
  if (mprof_os_peek(pc - sizeof(code), &code, sizeof(code)) != sizeof(code))
    return 0;
  if ((code & 0xfffffc1f) == 0xd63f0000) // blr
    return called_by_register(pc, code >> 5 & 31);
  if ((code & 0xfc000000) != 0x94000000) // bl
    return 0;
  const int64_t offset = (int64_t)((uint64_t)code << 38) >> 36;
  return past_stub(pc - sizeof(code) + (uintptr_t)offset);
}

#endif

#endif // MPROF_RT_THREAD_STACKS_CALL_CODE_H
