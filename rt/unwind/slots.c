// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records the places of the return addresses of a stack; see unwind.h.

#include "unwind/unwind.h"

#include "unwind/rules.h"

// The place of a slot.
struct slot {
  uintptr_t at;
  // Address of the word that holds the value which the frame pointer register
  // has in the function to which the slot's return address belongs.
  uintptr_t bp_at;
  uintptr_t sp; // the stack pointer in this function
};

// Sets *next to the slot that follows the slot s, whose return address has the
// rule r. Writes the codes that lead there, and returns their number. Returns 0
// if codes cannot express the place.
static size_t encode(struct mprof_rule r, struct slot s, struct slot *next,
                     uint16_t codes[2]) {
  if (!mprof_rule_keeps_frame_pointer(r) && !mprof_rule_saves_ra(r))
    return 0;
  if (mprof_rule_is_from_sp(r)) {
    next->sp = s.sp + mprof_rule_cfa_offset(r);
    next->at = next->sp + mprof_rule_ra_offset(r);
    const uintptr_t words = (next->at - s.at) / 8;
    if (words == 0 || words >= MPROF_SLOT_BY_BP)
      return 0;
    next->bp_at =
        mprof_rule_saves_bp(r) ? next->sp + mprof_rule_bp_offset(r) : s.bp_at;
    codes[0] = (uint16_t)words;
    return 1;
  }
  // The offsets of the CFA, of the saved frame pointer and of the return
  // address from the frame pointer register.
  uintptr_t cfa = mprof_rule_chain_offset(r), saved = 0, ra = 8;
  if (!mprof_rule_keeps_frame_pointer(r)) {
    if (mprof_rule_base(r) != MPROF_CFA_FROM_BP || !mprof_rule_saves_bp(r))
      return 0;
    cfa = mprof_rule_cfa_offset(r);
    saved = cfa + mprof_rule_bp_offset(r);
    ra = cfa + mprof_rule_ra_offset(r);
  }
  const uintptr_t below = (s.at - s.bp_at) / 8;
  const intptr_t words = (intptr_t)ra / 8;
  if (below >= MPROF_SLOT_BY_BP || words != (int16_t)words)
    return 0;
  const uintptr_t bp = mprof_stack_word(s.bp_at);
  *next = (struct slot){.at = bp + ra, .bp_at = bp + saved, .sp = bp + cfa};
  if (below == 1 && words == 1) {
    codes[0] = MPROF_SLOT_BY_BP;
    return 1;
  }
  codes[0] = (uint16_t)(MPROF_SLOT_BY_BP + below);
  codes[1] = (uint16_t)words;
  return 2;
}

size_t mprof_slots_record(const struct mprof_stack_range *range, uintptr_t fp,
                          const mprof_pc *pcs, size_t n, uint16_t *codes,
                          size_t cap) {
  struct slot s = {.at = fp + 8, .bp_at = fp, .sp = mprof_frame_end(fp)}, next;
  bool is_sure = true; // as in struct walk of unwind_cfi.c
  size_t len = 0;
  for (size_t i = 0; mprof_stack_return(s.at) == pcs[i]; i++) {
    if (i + 1 == n)
      return len;
    const struct mprof_rule r = mprof_rule_of(pcs[i] - 1, is_sure);
    const size_t added = len + 2 <= cap ? encode(r, s, &next, codes + len) : 0;
    // The tests of mprof_slots_match.
    if (added == 0 || next.at <= s.at || (next.at & 7) != 0 ||
        next.at > range->hi - 16 || next.bp_at < fp || next.bp_at > next.at)
      return 0;
    is_sure &= mprof_rule_is_sure(r);
    len += added;
    s = next;
  }
  return 0;
}
