// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps from a frame to its caller; see unwind_step.h.

#include "unwind/unwind_step.h"

#include "sys/context.h"

// --- calls ---

// Stores in *word the word at addr. Returns false if addr does not lie in the
// frames above the stack pointer sp, or is not readable.
static bool read_above(struct mprof_stack_range *range, bool is_foreign,
                       uintptr_t sp, uintptr_t addr, uintptr_t *word) {
  if (addr - sp > MPROF_MAX_FRAME_BYTES || (addr & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, addr))
    return false;
  *word = mprof_stack_word(addr);
  return true;
}

// Does what mprof_ascend does, for a rule r whose base is MPROF_CFA_AT_BP.
static bool ascend_aligned(struct mprof_stack_range *range, bool is_foreign,
                           struct mprof_rule r, struct mprof_registers *f) {
  uintptr_t bp, cfa;
  if (!read_above(range, is_foreign, f->sp, f->bp, &bp) ||
      !read_above(range, is_foreign, f->sp, f->bp + mprof_rule_cfa_offset(r),
                  &cfa) ||
      cfa - f->sp - 8 > MPROF_MAX_FRAME_BYTES || (cfa & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, cfa - 16))
    return false;
  *f = (struct mprof_registers){
      .pc = mprof_stack_return(cfa - 8), .sp = cfa, .bp = bp};
  return true;
}

// Sets *pc to the return address of the frame *f, whose rule r gives the
// address cfa. It is 0 at the end of some stacks. Returns false if it cannot be
// read.
static inline bool read_caller(const struct mprof_stack_range *range,
                               struct mprof_rule r,
                               const struct mprof_registers *f, uintptr_t cfa,
                               mprof_pc *pc) {
#if MPROF_RA_IS_PUSHED
  (void)range, (void)r, (void)f;
  *pc = mprof_stack_word(cfa - 8);
  return true;
#else
  const uintptr_t at = cfa + mprof_rule_ra_offset(r);
  if (!mprof_rule_saves_ra(r)) {
    *pc = mprof_return_address(f->link);
    return true;
  }
  if (at < range->lo || at + 8 > range->hi)
    return false;
  *pc = mprof_stack_return(at);
  return true;
#endif
}

bool mprof_ascend(struct mprof_stack_range *range, bool is_foreign,
                  struct mprof_rule r, struct mprof_registers *f) {
  if (mprof_rule_keeps_frame_pointer(r))
    return mprof_ascend_chain(range, is_foreign, r, f);
  if (mprof_rule_base(r) == MPROF_CFA_AT_BP)
    return ascend_aligned(range, is_foreign, r, f);
  const uintptr_t cfa =
      (mprof_rule_base(r) == MPROF_CFA_FROM_SP ? f->sp : f->bp) +
      mprof_rule_cfa_offset(r);
  // The first comparison checks both bounds of cfa. If cfa is not above sp, the
  // unsigned difference is huge. If the return address is in its register, the
  // frame may have no memory.
  if (cfa - f->sp - (mprof_rule_saves_ra(r) ? 8 : 0) > MPROF_MAX_FRAME_BYTES ||
      (cfa & 7) != 0 || !mprof_stack_reaches(range, is_foreign, cfa - 16))
    return false;
  mprof_pc pc;
  if (!read_caller(range, r, f, cfa, &pc))
    return false;
  uintptr_t bp = f->bp;
  if (mprof_rule_saves_bp(r)) {
    uintptr_t saved = cfa + mprof_rule_bp_offset(r);
    if (saved < range->lo || saved + 8 > range->hi)
      return false;
    bp = mprof_stack_word(saved);
  }
  *f = (struct mprof_registers){.pc = pc, .sp = cfa, .bp = bp};
  return true;
}

// --- signals ---

MPROF_NO_SANITIZER struct mprof_registers
mprof_context_frame(const void *context) {
  return (struct mprof_registers){
#if !MPROF_RA_IS_PUSHED
      .link = mprof_context_link(context),
#endif
      // The unwinder looks up the address before.
      .pc = mprof_context_pc(context) + 1,
      .sp = mprof_context_sp(context),
      .bp = mprof_context_bp(context)};
}

bool mprof_ascend_signal(struct mprof_stack_range *range, bool is_foreign,
                         struct mprof_registers *f) {
  enum { REGISTERS_MAX = 272 }; // they are in the first bytes of mcontext_t
  const ucontext_t *u = (const ucontext_t *)(f->sp + MPROF_CONTEXT_AT);
  if ((f->sp & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign,
                           (uintptr_t)&u->uc_mcontext + REGISTERS_MAX))
    return false;
  *f = mprof_context_frame(u);
  return true;
}
