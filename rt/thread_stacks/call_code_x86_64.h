// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes calls of x86-64; see call_code.h.

#ifndef MPROF_RT_THREAD_STACKS_CALL_CODE_X86_64_H
#define MPROF_RT_THREAD_STACKS_CALL_CODE_X86_64_H

#include "lock_wait/hooked.h"
#include "sys/arch.h"
#include "thread_stacks/call_code.h"

#include <string.h>

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
  const uintptr_t target = mprof_peek_pointer(relative(jump + OFFSET_AT, end));
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
    const uintptr_t target = mprof_peek_pointer(relative(code + i + 3, next));
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
    return mprof_peek_pointer(relative(code + 2, pc));
  return code[1] == CALL ? past_stub(relative(code + 2, pc)) : 0;
}

#endif // MPROF_RT_THREAD_STACKS_CALL_CODE_X86_64_H
