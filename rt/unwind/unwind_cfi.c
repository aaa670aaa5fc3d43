// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinds stacks by call frame information (rules.h). This is done for each
// stack that the runtime sees for the first time, and for stacks with code
// without frame pointers that are in no cache. The rule for a code address
// (rules.h) tells where the caller's frame is. Code without call frame
// information is assumed to keep frame pointers.

#include "options/flags.h"
#include "sys/abi_words.h"
#include "sys/context.h"
#include "sys/os.h"
#include "unwind/python.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

// --- steps ---

// The functions step from a frame of a stack to the frame of its caller, or to
// the code that a signal has interrupted. They return false if that frame
// cannot be found.
// range: the part of the stack that may be read
// is_foreign: whether the stack is not the thread's own; see
//   mprof_stack_reaches

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

// Replaces *f, the registers of a frame, by the registers of its caller. The
// code of the frame, which has the rule r, must keep a frame pointer.
static inline bool ascend_chain(struct mprof_stack_range *range,
                                bool is_foreign, struct mprof_rule r,
                                struct mprof_registers *f) {
  const uintptr_t bp = f->bp;
  // The first comparison checks both bounds of bp. If bp is below sp - 8, the
  // unsigned difference is huge. In code without call frame information, bp may
  // be sp - 8.
  if (bp + 8 - f->sp > MPROF_MAX_FRAME_BYTES || (bp & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, bp))
    return false;
  *f = (struct mprof_registers){.pc = mprof_stack_return(bp + 8),
                                .sp = bp + mprof_rule_chain_offset(r),
                                .bp = mprof_stack_word(bp)};
  return true;
}

// Does what ascend (below) does, for a rule r whose base is MPROF_CFA_AT_BP.
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

// Replaces *f, the registers of a frame, by the registers of its caller, as
// rule r describes.
static bool ascend(struct mprof_stack_range *range, bool is_foreign,
                   struct mprof_rule r, struct mprof_registers *f) {
  if (mprof_rule_keeps_frame_pointer(r))
    return ascend_chain(range, is_foreign, r, f);
  if (mprof_rule_base(r) == MPROF_CFA_AT_BP)
    return ascend_aligned(range, is_foreign, r, f);
  const uintptr_t cfa =
      (mprof_rule_is_from_sp(r) ? f->sp : f->bp) + mprof_rule_cfa_offset(r);
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

// Replaces the registers *f by the registers of the code that a signal has
// interrupted. Call this function when f->pc is the address to which the signal
// handler returns. The code at this address calls rt_sigreturn. The kernel has
// saved the interrupted registers at f->sp. (Linux: struct rt_sigframe)
static bool ascend_signal(struct mprof_stack_range *range, bool is_foreign,
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

#if !MPROF_RA_IS_PUSHED
// Follows the frames of the functions between this one and the frame at fp. All
// of them belong to the runtime, or to functions of libc that call the runtime
// back, and keep frame pointers. The frame below the one at fp has the address
// at which the function with the frame fp will continue.
MPROF_NO_SANITIZER uintptr_t mprof_frame_end(uintptr_t fp) {
  enum { BETWEEN_MAX = 64 };
  uintptr_t at = (uintptr_t)__builtin_frame_address(0);
  for (int i = 0; i < BETWEEN_MAX; i++) {
    const uintptr_t next = mprof_stack_word(at);
    if (next == fp) {
      const struct mprof_rule r =
          mprof_rule_of(mprof_stack_return(at + 8) - 1, true);
      return mprof_rule_base(r) == MPROF_CFA_FROM_BP
                 ? fp + mprof_rule_cfa_offset(r)
                 : fp + 16;
    }
    // The frames of a thread that writes files may be on two stacks.
    if ((next & (MPROF_BP_ALIGNMENT - 1)) != 0 ||
        (next - at > MPROF_PAGE && !mprof_sys_readable(next)))
      break;
    at = next;
  }
  return fp + 16;
}
#endif

// --- stacks ---

struct walk {
  struct mprof_stack_range *own;
  struct mprof_stack_range *range; // NULL: the stack at f.sp is not readable
  struct mprof_stack_range foreign;
  struct mprof_registers f;
  // True: f.pc is certainly a return address of this thread. The module of f.pc
  // then cannot be unloaded now, so its call frame information may be read.
  // False: f.pc is only a guess, because a step before went through code
  // without call frame information.
  bool is_sure;
  // True: the result is not the return addresses on the stack. A frame was left
  // out, because its code is an entry (mprof_is_entry) or no caller
  // (mprof_is_made_return), or the stack has coroutines or functions of Python.
  bool is_hiding;
  size_t proof_len;                         // see struct mprof_unwound
  struct mprof_running_coroutines *running; // NULL: do not look for coroutines
  enum mprof_stack_end end;
};

// Sets w->range to the readable range of the stack that contains w->f.sp.
static void enter(struct walk *w) {
  w->range = mprof_stack_enter(w->own, &w->foreign, w->f.sp & -(uintptr_t)16);
}

static bool is_on_foreign(const struct walk *w) {
  return w->range == &w->foreign;
}

// Returns whether the address of the caller's code is certain, where r is the
// rule of a frame, and is_sure is whether the address of its code is.
static bool stays_sure(bool is_sure, struct mprof_rule r) {
  return mprof_rule_base(r) == MPROF_CFA_OF_SIGNAL ||
         (is_sure && mprof_rule_is_sure(r));
}

// Does what rise (below) does, for frames whose rule does not describe a frame
// pointer, and for the end of the stack.
static bool rise_by_rule(struct walk *w, struct mprof_rule r) {
  w->end = MPROF_STACK_COMPLETE;
  if (mprof_rule_base(r) == MPROF_CFA_ROOT || mprof_is_context_root(w->f.pc))
    return false;
  w->is_sure = stays_sure(w->is_sure, r);
  if (w->range && mprof_rule_base(r) == MPROF_CFA_OF_SIGNAL &&
      ascend_signal(w->range, is_on_foreign(w), &w->f)) {
    // The handler may have run on an alternate signal stack, so the new f.sp
    // may lie on another stack.
    enter(w);
  } else if (!w->range || mprof_rule_base(r) == MPROF_CFA_OF_SIGNAL ||
             !ascend(w->range, is_on_foreign(w), r, &w->f)) {
    const bool is_root = w->range && mprof_rule_base(r) == MPROF_CFA_UNKNOWN &&
                         mprof_is_made_root(w->f.pc, w->f.bp);
    w->end = is_root ? MPROF_STACK_COMPLETE : MPROF_STACK_CUT_CHAIN;
    return false;
  }
  w->end = MPROF_STACK_CUT_DEPTH;
  return true;
}

// Replaces w->f, the registers of a frame with rule r, by the registers of its
// caller. If the stack ends at this frame, returns false and sets w->end.
static inline bool rise(struct walk *w, struct mprof_rule r) {
  if (mprof_likely(mprof_rule_base(r) == MPROF_CFA_FROM_BP &&
                   mprof_rule_keeps_frame_pointer(r) && w->range &&
                   ascend_chain(w->range, is_on_foreign(w), r, &w->f)))
    return true;
  return rise_by_rule(w, r);
}

// Returns how many of the n frames at pcs to keep. Call this function when the
// stack was unwound to its last frame. has_root: the rule of the last frame is
// MPROF_CFA_ROOT. If the stack shows where libc has called the start function
// of a thread, remembers this return address.
static size_t keep(const struct walk *w, const mprof_pc *pcs, size_t n,
                   bool has_root) {
  if (w->end != MPROF_STACK_COMPLETE)
    return n;
  const size_t kept = mprof_without_roots(pcs, n);
  if (has_root && kept > 0 && n == kept + 2)
    mprof_learn_root(pcs[kept]);
  return kept;
}

// Ends the stack at main, which has the frame w->f.bp and is the last of the n
// frames at pcs. In the process's first thread, remembers the return address of
// main, and also stores it at pcs[n] if there is room.
static void end_at_main(struct walk *w, mprof_pc *pcs, size_t n, size_t depth) {
  w->end = MPROF_STACK_COMPLETE;
  if (!w->own->is_main)
    return;
  const mprof_pc root = mprof_stack_return(w->f.bp + 8);
  mprof_learn_root(root);
  if (n < depth) {
    pcs[n] = root;
    w->proof_len = n + 1;
  }
}

// Makes the part of follow() (below) that needs only plain rules (rules.h).
// The stack has n frames so far. Returns the number of frames when a frame
// needs more checks, or when n is depth.
MPROF_NO_SANITIZER static size_t follow_plain(struct walk *w, mprof_pc *pcs,
                                              size_t n, size_t depth,
                                              uintptr_t main_frame) {
  struct mprof_registers f = w->f;
  const uintptr_t hi = w->range->hi;
  while (n < depth) {
    struct mprof_rule r;
    uintptr_t cfa, ra, bp = f.bp;
    if (mprof_unlikely(!mprof_rule_is_cached(f.pc - 1, &r)))
      break;
    if (mprof_likely(mprof_rule_is_plain_from_sp(r))) {
      cfa = f.sp + mprof_rule_cfa_offset(r);
      if (cfa > hi)
        break;
      ra = cfa + mprof_rule_ra_offset(r);
      if (mprof_rule_saves_bp(r))
        bp = mprof_stack_word(cfa + mprof_rule_bp_offset(r));
    } else {
      if (!mprof_rule_is_plain_chain(r) || bp - f.sp > MPROF_MAX_FRAME_BYTES ||
          (bp & 7) != 0 || bp + 16 > hi || bp == main_frame)
        break;
      cfa = bp + mprof_rule_chain_offset(r);
      ra = bp + 8;
      bp = mprof_stack_word(bp);
    }
    pcs[n++] = f.pc;
    f = (struct mprof_registers){
        .pc = mprof_stack_return(ra), .sp = cfa, .bp = bp};
  }
  w->f = f;
  return n;
}

// Appends the coroutine that runs in the frame w->f, which has the index `at`
// in the stack, to w->running.
static MPROF_NOINLINE void note_coroutine(struct walk *w, size_t at) {
  const struct mprof_registers *f = &w->f;
  if (!w->is_sure || !w->range || f->bp - f->sp > MPROF_MAX_FRAME_BYTES ||
      (f->bp & 7) != 0 ||
      !mprof_stack_reaches(w->range, is_on_foreign(w), f->bp))
    return;
  uintptr_t lo = (f->sp & -(uintptr_t)8) - MPROF_RED_ZONE;
  if (lo < w->range->lo)
    lo = w->range->lo;
  mprof_coroutine_note(w->running, at, f->pc, lo, f->bp);
}

// Returns whether the n frames at pcs are the whole stack, because no function
// of the program has the frame w->f, whose rule is r. Then sets w->end, and
// either w->is_hiding, or w->proof_len and pcs[n]; so there must be room for
// pcs[n].
static inline bool ends_before(struct walk *w, mprof_pc *pcs, size_t n,
                               struct mprof_rule r, bool is_interrupted) {
  const mprof_pc pc = w->f.pc;
  if (n == 0)
    return false;
  // If pc is a known root, all frames from here on belong to libc. Unwinding
  // stops at this frame to save time. If libc keeps frame pointers, unwinding
  // is fast, and this test is not needed.
  if (!mprof_rule_keeps_frame_pointer(r) && mprof_is_root(pc)) {
    w->end = MPROF_STACK_COMPLETE;
    pcs[n] = pc;
    w->proof_len = n + 1;
    return true;
  }
  if (mprof_rule_is_plain(r) || !w->is_sure || is_interrupted ||
      mprof_is_context_root(pc) ||
      !mprof_is_made_return(pc, mprof_rule_base(r)))
    return false;
  w->end = MPROF_STACK_COMPLETE;
  w->is_hiding = true; // no frames of libc have called the first function
  return true;
}

// Does what follow (below) does, except that coroutines that await others are
// not shown. running: w->running, which is a constant NULL without coroutines.
__attribute__((always_inline)) static inline size_t
follow_frames(struct walk *w, mprof_pc *pcs, size_t depth,
              const struct mprof_running_coroutines *running) {
  const uintptr_t main_frame = (uintptr_t)__mprof_main_frame;
  size_t n = 0;
  bool is_interrupted = false;
  struct mprof_rule r = {MPROF_CFA_UNKNOWN};
  w->is_sure = true;
  w->end = MPROF_STACK_CUT_DEPTH;
  enter(w);
  while (n < depth) {
    if (w->is_sure && w->range && !running)
      n = follow_plain(w, pcs, n, depth, main_frame);
    if (n == depth)
      break;
    const mprof_pc pc = w->f.pc;
    if (pc < MPROF_PAGE || pc >> MPROF_ADDRESS_BITS) {
      w->end = pc == 0 ? MPROF_STACK_COMPLETE : MPROF_STACK_CUT_CHAIN;
      return keep(w, pcs, n, false);
    }
    // Looks up pc - 1, which is a byte of the call instruction. pc itself may
    // already be the start of the next function, because the call may be the
    // last instruction of its function.
    r = mprof_rule_of(pc - 1, w->is_sure);
    if (mprof_rule_base(r) == MPROF_CFA_NO_CODE) {
      w->end = mprof_is_made_root(pc, w->f.bp) ? MPROF_STACK_COMPLETE
                                               : MPROF_STACK_CUT_CHAIN;
      return keep(w, pcs, n, false);
    }
    if (ends_before(w, pcs, n, r, is_interrupted))
      return n;
    const bool is_in_chain = mprof_rule_keeps_frame_pointer(r);
    if (mprof_likely(!mprof_is_entry(pc - 1)))
      pcs[n++] = pc;
    else
      w->is_hiding = true;
    if (running && is_in_chain && n > 0)
      note_coroutine(w, n - 1);
    // f.bp may be the frame address of main although f is not main's frame. For
    // example, f.bp of code without a frame pointer is the frame pointer of a
    // caller. So the code must keep a frame pointer.
    if (is_in_chain && main_frame != 0 && w->f.bp == main_frame) {
      end_at_main(w, pcs, n, depth);
      return n;
    }
    // The pc of interrupted code is no return address (ascend_signal).
    is_interrupted = mprof_rule_base(r) == MPROF_CFA_OF_SIGNAL;
    if (!rise(w, r))
      break;
  }
  const bool has_root = mprof_rule_base(r) == MPROF_CFA_ROOT;
  if (w->end == MPROF_STACK_CUT_DEPTH || has_root)
    w->proof_len = n;
  return keep(w, pcs, n, has_root);
}

// Does what follow (below) does, with the option coroutines.
static MPROF_NOINLINE size_t follow_coroutines(struct walk *w, mprof_pc *pcs,
                                               size_t depth) {
  struct mprof_running_coroutines running;
  running.len = 0;
  w->running = &running;
  size_t n = follow_frames(w, pcs, depth, &running);
  w->running = NULL;
  if (running.len == 0)
    return n;
  // The return addresses on the stack do not tell which coroutines await.
  w->is_hiding = true;
  bool is_cut = false;
  n = mprof_coroutines_insert(&running, pcs, n, depth, &is_cut);
  if (is_cut)
    w->end = MPROF_STACK_CUT_DEPTH;
  return n;
}

// Unwinds the stack whose first frame has the registers w->f. Writes at most
// depth return addresses to pcs and returns their number. Sets the fields end,
// is_hiding and proof_len of *w. tid: the thread that has the stack, or 0 for
// the calling thread in an event.
static size_t follow(struct walk *w, mprof_pc *pcs, size_t depth, int tid) {
  const size_t n = mprof_unlikely(mprof_flags.coroutines)
                       ? follow_coroutines(w, pcs, depth)
                       : follow_frames(w, pcs, depth, NULL);
  return mprof_unlikely(mprof_python_is_on())
             ? mprof_python_insert(pcs, n, depth, &w->end, &w->is_hiding, tid)
             : n;
}

// Returns the registers of the function that has called the runtime's function
// with the frame fp.
static inline struct mprof_registers caller_at(uintptr_t fp) {
  return (struct mprof_registers){.pc = mprof_stack_return(fp + 8),
                                  .sp = mprof_frame_end(fp),
                                  .bp = mprof_stack_word(fp)};
}

size_t mprof_unwind_checked(struct mprof_stack_range *own, uintptr_t fp,
                            mprof_pc *pcs, size_t depth,
                            struct mprof_unwound *facts) {
  *facts = (struct mprof_unwound){.end = MPROF_STACK_CUT_DEPTH};
  if (depth == 0)
    return 0;
  struct mprof_stack_range foreign;
  if (!mprof_stack_enter(own, &foreign, fp))
    return 0;
  struct walk w = {.own = own, .f = caller_at(fp)};
  const size_t n = follow(&w, pcs, depth, 0);
  facts->end = w.end;
  facts->proof_len = w.is_hiding ? 0 : w.proof_len;
  return n;
}

size_t mprof_unwind_cfi(struct mprof_stack_range *own, uintptr_t fp,
                        mprof_pc *pcs, size_t depth,
                        enum mprof_stack_end *end) {
  struct mprof_unwound facts;
  const size_t n = mprof_unwind_checked(own, fp, pcs, depth, &facts);
  *end = facts.end;
  return n;
}

size_t mprof_unwind_registers(struct mprof_stack_range *own,
                              const struct mprof_registers *from, int tid,
                              mprof_pc *pcs, size_t depth,
                              enum mprof_stack_end *end) {
  struct walk w = {.own = own, .f = *from};
  const size_t n = follow(&w, pcs, depth, tid);
  *end = w.end;
  return n;
}

const void *mprof_interrupted_context(struct mprof_stack_range *own,
                                      uintptr_t fp) {
  enum { FRAMES_MAX = 256 };
  struct mprof_stack_range foreign;
  struct mprof_stack_range *range = mprof_stack_enter(own, &foreign, fp);
  if (!range)
    return NULL;
  struct mprof_registers f = caller_at(fp);
  bool is_sure = true; // f.pc is certainly a return address; see struct walk
  for (int i = 0;
       i < FRAMES_MAX && f.pc >= MPROF_PAGE && f.pc >> MPROF_ADDRESS_BITS == 0;
       i++) {
    const uintptr_t sp = f.sp;
    const struct mprof_rule r = mprof_rule_of(f.pc - 1, is_sure);
    is_sure = stays_sure(is_sure, r);
    if (mprof_rule_base(r) == MPROF_CFA_OF_SIGNAL)
      return ascend_signal(range, range == &foreign, &f)
                 ? (const void *)(sp + MPROF_CONTEXT_AT)
                 : NULL;
    if (mprof_rule_base(r) == MPROF_CFA_ROOT ||
        mprof_rule_base(r) == MPROF_CFA_NO_CODE ||
        !ascend(range, range == &foreign, r, &f))
      return NULL;
  }
  return NULL;
}

// Follows the chain of frame pointers from fp upwards. Returns whether the
// chain reaches the address `frame`. Returns false if the chain breaks or
// passes `frame`.
static bool has_in_chain(struct mprof_stack_range *range, bool is_foreign,
                         uintptr_t fp, uintptr_t frame) {
  while (fp < frame) {
    uintptr_t next = mprof_stack_word(fp);
    if (next - fp - 16 > MPROF_MAX_FRAME_BYTES || (next & 7) != 0 ||
        !mprof_stack_reaches(range, is_foreign, next))
      return false;
    fp = next;
  }
  return fp == frame;
}

// Follows frame pointers first. If their chain does not reach `frame`, unwinds
// by call frame information. Functions without frame pointers leave the
// caller's frame pointer in the register or save it on the stack. So if the
// frame exists, the frame pointer register equals `frame` after some step of
// the unwinding.
bool mprof_stack_has_frame(struct mprof_stack_range *range, uintptr_t fp,
                           uintptr_t frame, mprof_pc pc) {
  struct mprof_stack_range foreign;
  range = mprof_stack_enter(range, &foreign, fp);
  if (!range)
    return false;
  bool is_foreign = range == &foreign;
  if (has_in_chain(range, is_foreign, fp, frame))
    return mprof_stack_return(frame + 8) == pc;
  struct mprof_registers f = caller_at(fp);
  while (f.sp <= frame) {
    if (f.bp == frame)
      return mprof_stack_reaches(range, is_foreign, frame) &&
             mprof_stack_return(frame + 8) == pc;
    const struct mprof_rule r = mprof_rule_of(f.pc - 1, true);
    if (mprof_rule_base(r) == MPROF_CFA_ROOT ||
        mprof_rule_base(r) == MPROF_CFA_UNKNOWN ||
        mprof_rule_base(r) == MPROF_CFA_OF_SIGNAL ||
        !ascend(range, is_foreign, r, &f))
      return false;
  }
  return false;
}

// Follows frame pointers from fp up to the entry, the runtime's function that
// the program has called. All frames between fp and the entry belong to
// functions of the runtime, which keep frame pointers. The frame of an entry
// may lie at an address that is no multiple of 16 (MPROF_UNALIGNED_ENTRY).
uintptr_t mprof_entry_frame(struct mprof_stack_range *range, uintptr_t fp) {
  enum { BETWEEN_MAX = 16 };
  struct mprof_stack_range foreign;
  range = mprof_stack_enter(range, &foreign, fp);
  for (int i = 0; range && i < BETWEEN_MAX; i++) {
    const bool is_called_by_entry =
        mprof_is_entry(mprof_stack_return(fp + 8) - 1);
    uintptr_t next = mprof_stack_word(fp);
    if (next - fp - 16 > MPROF_MAX_FRAME_BYTES || (next & 7) != 0 ||
        !mprof_stack_reaches(range, range == &foreign, next))
      return 0;
    fp = next;
    if (is_called_by_entry)
      return fp;
  }
  return 0;
}
