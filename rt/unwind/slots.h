// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes a known stack by its return addresses, without unwinding it again.
// The stack may have code without frame pointers.
//
// A slot is the word of a stack that holds a return address. The unwind rule
// for a return address tells where the slot of the next one is. So if a thread
// has the same return address in its first slot as a known stack, its second
// slot is where the known stack has its second slot, relative to the first. If
// the second return address is the same as well, so is the place of the third
// slot, and so on. Therefore no rule has to be looked up: if all slots hold the
// known return addresses, the stacks are the same. This is no heuristic.
//
// Codes tell the places of the slots. A code has 16 bits, and 1 or 2 codes lead
// from one slot to the next:
//   0NNN            The next slot is NNN words higher. The rule of the frame is
//                   "stack pointer plus a constant".
//   8000            The same as 8001, 1. This is the code of a function with a
//                   frame pointer that calls another such function.
//   8000+KKK, NNN   The word that lies KKK words below the slot is the frame
//                   pointer that belongs to the frame. The next slot is NNN
//                   words (signed) above the address in the frame pointer.

#ifndef MPROF_RT_UNWIND_SLOTS_H
#define MPROF_RT_UNWIND_SLOTS_H

#include "sys/arch.h"
#include "sys/base.h"
#include "unwind/unwind.h"

#define MPROF_SLOT_BY_BP 0x8000u

// Writes the codes that lead to the n slots of the stack that begins at the
// frame fp, on the thread's own stack. pcs has the return addresses in the
// slots, as mprof_unwind_checked has found them. Returns the number of codes,
// or 0 if codes cannot express the places, or if there are more than cap codes.
size_t mprof_slots_record(const struct mprof_stack_range *range, uintptr_t fp,
                          const mprof_pc *pcs, size_t n, uint16_t *codes,
                          size_t cap);

// Returns whether the slots of the stack that begins at the frame fp hold the n
// return addresses at pcs. mprof_slots_record has written the codes for a stack
// with these return addresses. fp must lie on the thread's own stack, in the
// part that is known to be readable. Reads only memory in this part, even if
// the codes belong to another stack. n must not be 0.
MPROF_NO_SANITIZER static inline bool
mprof_slots_match(const struct mprof_stack_range *range, uintptr_t fp,
                  const mprof_pc *pcs, size_t n, const uint16_t *codes) {
  const uintptr_t last = range->hi - 16;
  uintptr_t at = fp + 8;
  for (const mprof_pc *end = pcs + n;;) {
    if (!mprof_is_return_address(*(const uintptr_t *)at, *pcs))
      return false;
    if (++pcs == end)
      return true;
    const uintptr_t code = *codes++;
    if (mprof_likely(code < MPROF_SLOT_BY_BP)) {
      at += code * 8;
    } else {
      uintptr_t next;
      if (mprof_likely(code == MPROF_SLOT_BY_BP)) {
        next = *(const uintptr_t *)(at - 8) + 8;
      } else {
        const uintptr_t saved = at - (code - MPROF_SLOT_BY_BP) * 8;
        if (saved < fp)
          return false;
        next = *(const uintptr_t *)saved +
               (uintptr_t)(intptr_t)(int16_t)*codes++ * 8;
      }
      if (next <= at || (next & 7) != 0)
        return false;
      at = next;
    }
    if (at > last)
      return false;
  }
}

#endif // MPROF_RT_UNWIND_SLOTS_H
