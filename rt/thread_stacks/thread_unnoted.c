// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the first frames of a sleeping thread's stack, from the system call
// to the first frame outside of libc; see thread_stacks.h. Call frame
// information (rules.h) tells where each frame ends. The thread may wake and
// end at any time, so the kernel copies each part of the stack (mprof_os_peek).
// Other modules than libc may be unloaded at any time, so the functions here do
// not read their call frame information.

#include "thread_stacks/thread_stacks.h"

#include "lock_wait/hooked.h"
#include "sys/arch.h"
#include "sys/os.h"
#include "thread/proc_threads.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <stdint.h>
#include <string.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#pragma weak gnu_get_libc_version
#endif

// --- the instruction of a call ---

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
// instruction before the return address pc. Sites with a switch (hooked.h) and
// no stub load the register from memory shortly before. Searches backwards for
// this load, because the lengths of the instructions between are unknown.
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
// instruction before the return address pc. Sites with a switch (hooked.h) and
// no stub load the register from memory shortly before. Returns 0 if no load of
// a hooked function is found.
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

// --- the stack of a sleeping thread ---

// The present frame of a walk up a thread's stack, and a copy of the stack from
// the first frame on. bp is 0 if the frame pointer is unknown.
struct walk {
  uintptr_t pc, sp, bp;
  uintptr_t start; // address of the stack memory that was copied
  size_t len;      // length of the copy in bytes
  unsigned char copy[4096];
};

static bool read_word(const struct walk *w, uintptr_t addr, uintptr_t *word) {
  const uintptr_t at = addr - w->start;
  if (at < w->len && w->len - at >= sizeof(*word)) {
    memcpy(word, w->copy + at, sizeof(*word));
    return true;
  }
  return mprof_os_peek(addr, word, sizeof(*word)) == sizeof(*word);
}

// Moves *w to the caller's frame. at: an address in the call instruction, or in
// the system call of the first frame.
static bool ascend(struct walk *w, uintptr_t at) {
  const struct mprof_cfa_rule r = mprof_eh_rule(at);
  const bool by_bp = r.base == MPROF_CFA_FROM_BP;
  if ((!by_bp && r.base != MPROF_CFA_FROM_SP) || (by_bp && w->bp == 0))
    return false;
  const uintptr_t cfa =
      (by_bp ? w->bp : w->sp) + (uintptr_t)(intptr_t)r.cfa_words * 8;
  uintptr_t pc, bp = w->bp;
  if (cfa <= w->sp || cfa - w->sp > MPROF_MAX_FRAME_BYTES || (cfa & 7) != 0 ||
      !r.ra_is_saved ||
      !read_word(w, cfa + (uintptr_t)(intptr_t)r.ra_words * 8, &pc) ||
      (r.bp_is_saved &&
       !read_word(w, cfa + (uintptr_t)(intptr_t)r.bp_words * 8, &bp)))
    return false;
  w->pc = mprof_return_address(pc);
  w->sp = cfa;
  w->bp = bp;
  return true;
}

// --- libc ---

static bool is_in(const struct mprof_code_range *code, uintptr_t pc) {
  return pc >= code->begin && pc < code->end;
}

// Returns the range of libc. In a static program, returns the range of the
// whole program. libc is found by the address of gnu_get_libc_version, because
// no other library defines this function.
static struct mprof_code_range libc_range(void) {
#ifdef __GLIBC__
  const uintptr_t any = gnu_get_libc_version ? (uintptr_t)gnu_get_libc_version
                                             : (uintptr_t)mprof_unnoted_find;
  return mprof_eh_module(any);
#else
  return (struct mprof_code_range){0, 0};
#endif
}

// --- the hooked function ---

static void set_op(struct mprof_unnoted *u, const struct mprof_hook *hook) {
  u->op = hook->op;
  u->kind = hook->kind;
}

// Moves *w from the frame of the system call to the first frame outside of
// libc. Stores in *u the outermost hooked function of libc among the frames
// that *w passes. In a static program, the range `libc` also contains the
// program's own functions. So in a static program the function stops at the
// frame that has called the hooked function. Returns false if the first frame
// outside of libc cannot be found.
static bool leave_libc(struct walk *w, const struct mprof_code_range *libc,
                       struct mprof_unnoted *u) {
  enum { FRAMES_MAX = 8 };
  struct mprof_hook hook;
  for (int i = 0; i < FRAMES_MAX; i++) {
    const uintptr_t at = i == 0 ? w->pc : w->pc - 1;
    if (!is_in(libc, at) || mprof_is_entry(at))
      return i > 0;
    if (i > 0 && u->op == 0 && is_in(libc, (uintptr_t)mprof_unnoted_find) &&
        mprof_hook_at(called_before(w->pc), &hook)) {
      set_op(u, &hook);
      return true;
    }
    const bool is_hooked =
        mprof_hook_at(mprof_eh_function(at).begin, &hook) &&
        hook.kind != MPROF_KIND_once; // pthread_once calls the program's code
    if (!is_hooked && u->op != 0)
      return true;
    if (is_hooked) {
      u->before = u->is_on_stack ? u->before : (uint8_t)i;
      u->is_on_stack = true;
      set_op(u, &hook);
    }
    if (!ascend(w, at))
      return false;
    u->inner++;
  }
  return false;
}

bool mprof_unnoted_find(const struct mprof_proc_thread *p,
                        struct mprof_unnoted *u) {
  const struct mprof_code_range libc = libc_range();
  struct walk w;
  struct mprof_hook hook;
  *u = (struct mprof_unnoted){.pc = p->pc};
  if (p->pc == 0 || p->sp == 0 || !is_in(&libc, p->pc))
    return false;
  w.pc = p->pc;
  w.sp = w.start = p->sp;
  w.bp = 0;
  const long len = mprof_os_peek(w.start, w.copy, sizeof(w.copy));
  w.len = len > 0 ? (size_t)len : 0;
  if (!leave_libc(&w, &libc, u))
    return u->op != 0;
  if (mprof_is_entry(w.pc - 1)) {
    const uintptr_t at = w.pc - 1;
    if (mprof_hook_at(mprof_eh_function(at).begin, &hook))
      set_op(u, &hook);
    u->caller = ascend(&w, at) ? w.pc : 0;
    return u->op != 0;
  }
  u->caller = w.pc;
  if (u->op == 0 && mprof_hook_at(called_before(w.pc), &hook))
    set_op(u, &hook);
  return u->op != 0;
}

// Returns whether the unwound stack b begins at the system call of the wait u.
// If the kernel will repeat the call, it has set the thread's program counter
// back to the system call instruction.
static bool begins_at(const struct mprof_bucket *b,
                      const struct mprof_unnoted *u) {
  return b->stack_len > 0 && (b->stack[0] == u->pc + 1 ||
                              b->stack[0] == u->pc + 1 - MPROF_SYSCALL_BYTES);
}

void mprof_unnoted_name(struct mprof_thread_slot *slot) {
  const struct mprof_unnoted *u = &slot->unnoted;
  struct mprof_bucket *b = slot->stack;
  if (slot->source != MPROF_STACK_IN_FUTEX || u->op == 0 ||
      b->stack_len <= u->inner || u->inner == 0 || !begins_at(b, u) ||
      (u->caller != 0 && b->stack[u->inner] != u->caller))
    return;
  const uint32_t rest = b->stack_len - u->inner;
  memmove(b->stack + 1, b->stack + u->inner, rest * sizeof(b->stack[0]));
  b->stack[0] = mprof_op_pc(u->op);
  b->stack_len = rest + 1;
  slot->source = MPROF_STACK_OF_WAITING;
  slot->kind = u->kind;
}
