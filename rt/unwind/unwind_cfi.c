// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinds stacks by call frame information (eh_frame.h). This is done for
// stacks that have code without frame pointers, and for each stack that the
// runtime sees for the first time. The rule for a code address tells where the
// caller's frame is. A rule fits in one word and is cached, so most steps need
// only one table lookup. Code without call frame information is assumed to keep
// frame pointers.

#include "unwind/unwind_cfi.h"

#include "sys/abi_words.h"
#include "sys/os_linux.h"
#include "unwind/eh_frame.h"
#include "unwind/stack_range.h"
#include "unwind/unwind_fp.h"

#include <string.h>
#include <ucontext.h>

// --- cache of rules ---

// The cache of rules. Threads write an entry without a lock, so the two words
// of an entry may come from different threads. Therefore the word `packed`
// repeats 16 bits of the hash of `pc`. A reader uses an entry only if both
// words match the address that the reader looks up.
#define LG_REMEMBERED 12
static struct {
  _Atomic uintptr_t pc;
  _Atomic uint64_t packed;
} remembered[1u << LG_REMEMBERED];

// A struct mprof_cfa_rule in one word, which is also the layout of the word
// `packed`. Starting at bit 0: base (3 bits), bp_is_saved (1), bp_words (20),
// cfa_words (24), hash of the address (16).
struct rule {
  uint64_t word;
};
#define BASE_BITS 3
#define BP_BITS 20
#define CFA_BITS 24
#define BP_AT (BASE_BITS + 1)
#define CFA_AT (BP_AT + BP_BITS)
#define HASH_AT (CFA_AT + CFA_BITS)

static uint64_t hash_of(uintptr_t pc) { return pc * 0x9e3779b97f4a7c15u; }

static uint64_t bits_of(int32_t v, unsigned bits) {
  return (uint32_t)v & ((1u << bits) - 1);
}

static uint64_t pack(const struct mprof_cfa_rule *r) {
  return (uint64_t)r->base | (uint64_t)r->bp_is_saved << BASE_BITS |
         bits_of(r->bp_words, BP_BITS) << BP_AT |
         bits_of(r->cfa_words, CFA_BITS) << CFA_AT;
}

static enum mprof_cfa_base base_of(struct rule r) {
  return (enum mprof_cfa_base)(r.word & ((1u << BASE_BITS) - 1));
}
static bool saves_bp(struct rule r) { return r.word >> BASE_BITS & 1; }
// Returns the offset of the saved frame pointer from the CFA, in bytes.
static uintptr_t bp_offset(struct rule r) {
  return (uintptr_t)((int64_t)(r.word << (64 - CFA_AT)) >> (64 - BP_BITS)) * 8;
}
// Returns the offset of the CFA from the base register, in bytes.
static uintptr_t cfa_offset(struct rule r) {
  return (uintptr_t)((int64_t)(r.word << (64 - HASH_AT)) >> (64 - CFA_BITS)) *
         8;
}

static bool fits(const struct mprof_cfa_rule *r) {
  const struct rule packed = {pack(r)};
  return bp_offset(packed) == (uintptr_t)(intptr_t)r->bp_words * 8 &&
         cfa_offset(packed) == (uintptr_t)(intptr_t)r->cfa_words * 8;
}

static MPROF_NOINLINE struct rule make_rule(uintptr_t pc, bool is_sure) {
  struct mprof_cfa_rule r = {.base = MPROF_CFA_UNKNOWN};
  if (is_sure)
    r = mprof_eh_rule(pc);
  if (!fits(&r))
    r = (struct mprof_cfa_rule){.base = MPROF_CFA_UNKNOWN};
  if (r.base == MPROF_CFA_UNKNOWN && mprof_is_signal_return(pc + 1))
    r.base = MPROF_CFA_OF_SIGNAL;
  return (struct rule){pack(&r)};
}

// Returns the rule for pc, which is the last byte of a call instruction. If
// is_sure is false, pc is only a guess, so the module of pc may be unloaded at
// any time. In this case the module's call frame information is not read.
static struct rule find_rule(uintptr_t pc, bool is_sure) {
  const uintptr_t key = is_sure ? pc : ~pc;
  uint64_t hash = hash_of(key);
  size_t i = hash >> (64 - LG_REMEMBERED);
  struct rule r = {
      atomic_load_explicit(&remembered[i].packed, memory_order_relaxed)};
  if (mprof_likely(atomic_load_explicit(&remembered[i].pc,
                                        memory_order_relaxed) == key &&
                   (r.word ^ hash << HASH_AT) >> HASH_AT == 0))
    return r;
  r = make_rule(pc, is_sure);
  r.word |= hash << HASH_AT;
  atomic_store_explicit(&remembered[i].pc, key, memory_order_relaxed);
  atomic_store_explicit(&remembered[i].packed, r.word, memory_order_relaxed);
  return r;
}

void mprof_unwind_forget(void) {
  for (size_t i = 0; i < sizeof(remembered) / sizeof(remembered[0]); i++)
    atomic_store_explicit(&remembered[i].pc, 0, memory_order_relaxed);
}

// --- following a stack ---

// Start and end of the section mprof_text. It contains the runtime's entries,
// which are functions that the program calls in place of hooked functions. The
// linker defines these two symbols.
#define SECTION_END __attribute__((weak, visibility("hidden")))
extern const char __start_mprof_text[] SECTION_END;
extern const char __stop_mprof_text[] SECTION_END;

// An entry is a function of the runtime that the program calls in place of a
// hooked function. The entry calls the hooked function, which may cause events.
// For example, pthread_create allocates memory. The stacks of these events must
// not show the entry.
bool mprof_is_entry(uintptr_t pc) {
  return pc - (uintptr_t)__start_mprof_text <
         (uintptr_t)(__stop_mprof_text - __start_mprof_text);
}

// Reads the word at addr in any frame of the stack. Sanitizers must not check
// this read, because the word may belong to another function's frame.
__attribute__((no_sanitize("address", "thread", "memory"))) static uintptr_t
word_at(uintptr_t addr) {
  return *(const uintptr_t *)addr;
}

// Returns whether the code with rule r keeps a frame pointer. The frame pointer
// register then points to the caller's frame pointer, and the return address
// follows in memory. So the caller is the next frame in the chain of frame
// pointers. Code without call frame information is assumed to keep a frame
// pointer.
static inline bool keeps_frame_pointer(struct rule r) {
  const struct mprof_cfa_rule chain = {.base = MPROF_CFA_FROM_BP,
                                       .cfa_words = 2,
                                       .bp_is_saved = true,
                                       .bp_words = -2};
  return r.word << (64 - HASH_AT) == pack(&chain) << (64 - HASH_AT) ||
         base_of(r) == MPROF_CFA_UNKNOWN;
}

// Stores in *word the word at addr. Returns false if addr does not lie in the
// frames above the stack pointer sp, or is not readable.
static bool read_above(struct mprof_stack_range *range, bool is_foreign,
                       uintptr_t sp, uintptr_t addr, uintptr_t *word) {
  if (addr - sp > MPROF_MAX_FRAME_BYTES || (addr & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, addr))
    return false;
  *word = word_at(addr);
  return true;
}

// Does what ascend (below) does, for a rule r whose base is MPROF_CFA_AT_BP.
static bool ascend_aligned(struct mprof_stack_range *range, bool is_foreign,
                           struct rule r, struct mprof_registers *f) {
  uintptr_t bp, cfa;
  if (!read_above(range, is_foreign, f->sp, f->bp, &bp) ||
      !read_above(range, is_foreign, f->sp, f->bp + cfa_offset(r), &cfa) ||
      cfa - f->sp - 8 > MPROF_MAX_FRAME_BYTES || (cfa & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, cfa - 16))
    return false;
  *f = (struct mprof_registers){.pc = word_at(cfa - 8), .sp = cfa, .bp = bp};
  return true;
}

// Replaces *f, the registers of a frame, by the registers of its caller. The
// code of the frame must keep a frame pointer. Returns false if the caller's
// frame cannot be found.
static inline bool ascend_chain(struct mprof_stack_range *range,
                                bool is_foreign, struct mprof_registers *f) {
  const uintptr_t bp = f->bp;
  // The first comparison checks both bounds of bp. If bp is below sp - 8, the
  // unsigned difference is huge. In code without call frame information, bp may
  // be sp - 8.
  if (bp + 8 - f->sp > MPROF_MAX_FRAME_BYTES || (bp & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, bp))
    return false;
  *f = (struct mprof_registers){
      .pc = word_at(bp + 8), .sp = bp + 16, .bp = word_at(bp)};
  return true;
}

// Replaces *f, the registers of a frame, by the registers of its caller, as
// rule r describes. Returns false if the caller's frame cannot be found.
static bool ascend(struct mprof_stack_range *range, bool is_foreign,
                   struct rule r, struct mprof_registers *f) {
  if (keeps_frame_pointer(r))
    return ascend_chain(range, is_foreign, f);
  if (base_of(r) == MPROF_CFA_AT_BP)
    return ascend_aligned(range, is_foreign, r, f);
  const uintptr_t cfa =
      (base_of(r) == MPROF_CFA_FROM_SP ? f->sp : f->bp) + cfa_offset(r);
  // The first comparison checks both bounds of cfa. If cfa is not above sp, the
  // unsigned difference is huge.
  if (cfa - f->sp - 8 > MPROF_MAX_FRAME_BYTES || (cfa & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, cfa - 16))
    return false;
  uintptr_t bp = f->bp;
  if (saves_bp(r)) {
    uintptr_t saved = cfa + bp_offset(r);
    if (saved < range->lo || saved + 8 > range->hi)
      return false;
    bp = word_at(saved);
  }
  *f = (struct mprof_registers){.pc = word_at(cfa - 8), .sp = cfa, .bp = bp};
  return true;
}

// Returns how many of the n frames at pcs to keep. Drops the frames of libc at
// the root of the stack; there may be several. In the first thread, the
// outermost frame is the program's startup code, which calls libc. This
// outermost frame is dropped, too.
static size_t without_roots(const mprof_pc *pcs, size_t n) {
  if (n > 2 && mprof_without_root(pcs, n, 0) == n &&
      mprof_without_root(pcs, n - 1, 0) < n - 1)
    n--;
  for (size_t kept; (kept = mprof_without_root(pcs, n, 0)) < n;)
    n = kept;
  return n;
}

// --- signals ---

bool mprof_is_signal_return(mprof_pc pc) {
  static const unsigned char glibc[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
                                        0,    0,    0x0f, 0x05};
  static const unsigned char musl[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
  const void *code = (const void *)pc;
  return mprof_sys_readable(pc) && mprof_sys_readable(pc + sizeof(glibc)) &&
         (memcmp(code, glibc, sizeof(glibc)) == 0 ||
          memcmp(code, musl, sizeof(musl)) == 0);
}

// Replaces the registers *f by the registers of the code that a signal has
// interrupted. Call this function when f->pc is the address to which the signal
// handler returns. The code at this address calls rt_sigreturn. The kernel has
// saved the interrupted registers at f->sp. Returns false if the saved
// registers cannot be read. (Linux: struct rt_sigframe)
static bool ascend_signal(struct mprof_stack_range *range, bool is_foreign,
                          struct mprof_registers *f) {
  const ucontext_t *u = (const ucontext_t *)f->sp;
  const greg_t *r = u->uc_mcontext.gregs;
  if ((f->sp & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, (uintptr_t)&r[REG_RIP]))
    return false;
  *f = (struct mprof_registers){.pc = word_at((uintptr_t)&r[REG_RIP]) + 1,
                                .sp = word_at((uintptr_t)&r[REG_RSP]),
                                .bp = word_at((uintptr_t)&r[REG_RBP])};
  return true;
}

// --- whole stacks ---

struct walk {
  struct mprof_stack_range *own;
  struct mprof_stack_range *range; // NULL: the stack at f.sp is not readable
  struct mprof_stack_range foreign;
  struct mprof_registers f;
  // True: f.pc is certainly a return address of this thread. The module of f.pc
  // then cannot be unloaded now, so its call frame information may be read.
  // False: f.pc is only a guess, because the step before went through code
  // without call frame information.
  bool is_sure;
  // True: a frame was left out, because its code is an entry (mprof_is_entry).
  bool is_hiding;
  // Number of frames, counted from the leaf, up to the first frame whose code
  // keeps no frame pointer.
  size_t by_fp;
  enum mprof_stack_end end;
};

// Sets w->range to the readable range of the stack that contains w->f.sp.
static void enter(struct walk *w) {
  w->range = mprof_stack_enter(w->own, &w->foreign, w->f.sp & -(uintptr_t)16);
}

static bool is_on_foreign(const struct walk *w) {
  return w->range == &w->foreign;
}

// Does what rise (below) does, for frames whose rule does not describe a frame
// pointer, and for the end of the stack.
static bool rise_by_rule(struct walk *w, struct rule r) {
  w->end = MPROF_STACK_COMPLETE;
  if (base_of(r) == MPROF_CFA_ROOT || mprof_is_context_root(w->f.pc))
    return false;
  w->is_sure = base_of(r) != MPROF_CFA_UNKNOWN;
  if (w->range && base_of(r) == MPROF_CFA_OF_SIGNAL &&
      ascend_signal(w->range, is_on_foreign(w), &w->f)) {
    // The handler may have run on an alternate signal stack, so the new f.sp
    // may lie on another stack.
    enter(w);
  } else if (!w->range || base_of(r) == MPROF_CFA_OF_SIGNAL ||
             !ascend(w->range, is_on_foreign(w), r, &w->f)) {
    const bool is_root =
        w->range && base_of(r) == MPROF_CFA_UNKNOWN && w->f.bp == 0;
    w->end = is_root ? MPROF_STACK_COMPLETE : MPROF_STACK_CUT_CHAIN;
    return false;
  }
  w->end = MPROF_STACK_CUT_DEPTH;
  return true;
}

// Replaces w->f, the registers of a frame with rule r, by the registers of its
// caller. If the stack ends at this frame, returns false and sets w->end.
static inline bool rise(struct walk *w, struct rule r) {
  if (mprof_likely(base_of(r) == MPROF_CFA_FROM_BP && keeps_frame_pointer(r) &&
                   w->range && ascend_chain(w->range, is_on_foreign(w), &w->f)))
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
  const size_t kept = without_roots(pcs, n);
  if (has_root && kept > 0 && n == kept + 2)
    mprof_learn_root(pcs[kept]);
  return kept;
}

// Remembers the return address of main, whose frame is at main_frame. Does
// nothing unless the calling thread is the process's first thread.
static void learn_root_of_main(const struct walk *w, uintptr_t main_frame) {
  if (w->own->is_main)
    mprof_learn_root(word_at(main_frame + 8));
}

// Unwinds the stack whose first frame has the registers w->f. Writes at most
// depth return addresses to pcs and returns their number. Sets the fields end,
// is_hiding and by_fp of *w.
static size_t follow(struct walk *w, mprof_pc *pcs, size_t depth) {
  const uintptr_t main_frame = (uintptr_t)__mprof_main_frame;
  size_t n = 0;
  struct rule r = {MPROF_CFA_UNKNOWN};
  w->is_sure = true;
  w->end = MPROF_STACK_CUT_DEPTH;
  enter(w);
  while (n < depth) {
    const mprof_pc pc = w->f.pc;
    if (pc < MPROF_PAGE || pc >> 47) {
      w->end = pc == 0 ? MPROF_STACK_COMPLETE : MPROF_STACK_CUT_CHAIN;
      break;
    }
    // Looks up pc - 1, which is a byte of the call instruction. pc itself may
    // already be the start of the next function, because the call may be the
    // last instruction of its function.
    r = find_rule(pc - 1, w->is_sure);
    const bool is_in_chain = keeps_frame_pointer(r);
    // If pc is a known root, all frames from here on belong to libc. Unwinding
    // stops at this frame to save time. If libc keeps frame pointers, unwinding
    // is fast, and this test is not needed.
    if (!is_in_chain && n > 0 && mprof_is_root(pc)) {
      w->end = MPROF_STACK_COMPLETE;
      return n;
    }
    if (mprof_likely(!mprof_is_entry(pc - 1)))
      pcs[n++] = pc;
    else
      w->is_hiding = true;
    if (is_in_chain && w->by_fp == n - 1)
      w->by_fp = n;
    // f.bp may be the frame address of main although f is not main's frame. For
    // example, f.bp of code without a frame pointer is the frame pointer of a
    // caller. So the code must keep a frame pointer.
    if (is_in_chain && main_frame != 0 && w->f.bp == main_frame) {
      learn_root_of_main(w, main_frame);
      w->end = MPROF_STACK_COMPLETE;
      return n;
    }
    if (!rise(w, r))
      break;
  }
  return keep(w, pcs, n, base_of(r) == MPROF_CFA_ROOT);
}

// Returns whether unwinding by frame pointers finds the same n frames that
// follow() has found, and the same end of the stack.
static bool is_chain(const struct walk *w, size_t n) {
  return n > 0 && !w->is_hiding &&
         w->by_fp >= (w->end == MPROF_STACK_CUT_DEPTH ? n - 1 : n);
}

size_t mprof_unwind_checked(struct mprof_stack_range *own, uintptr_t fp,
                            mprof_pc *pcs, size_t depth,
                            enum mprof_stack_end *end,
                            bool *by_frame_pointers) {
  *end = MPROF_STACK_CUT_DEPTH;
  *by_frame_pointers = false;
  if (depth == 0)
    return 0;
  struct mprof_stack_range foreign;
  if (!mprof_stack_enter(own, &foreign, fp))
    return 0;
  struct walk w = {
      .own = own,
      .f = {.pc = word_at(fp + 8), .sp = fp + 16, .bp = word_at(fp)}};
  const size_t n = follow(&w, pcs, depth);
  *end = w.end;
  *by_frame_pointers = is_chain(&w, n);
  return n;
}

size_t mprof_unwind_cfi(struct mprof_stack_range *own, uintptr_t fp,
                        mprof_pc *pcs, size_t depth,
                        enum mprof_stack_end *end) {
  bool by_frame_pointers;
  return mprof_unwind_checked(own, fp, pcs, depth, end, &by_frame_pointers);
}

size_t mprof_unwind_registers(struct mprof_stack_range *own,
                              const struct mprof_registers *from, mprof_pc *pcs,
                              size_t depth, enum mprof_stack_end *end) {
  struct walk w = {.own = own, .f = *from};
  const size_t n = follow(&w, pcs, depth);
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
  struct mprof_registers f = {
      .pc = word_at(fp + 8), .sp = fp + 16, .bp = word_at(fp)};
  bool is_sure = true; // f.pc is certainly a return address; see struct walk
  for (int i = 0; i < FRAMES_MAX && f.pc >= MPROF_PAGE && f.pc >> 47 == 0;
       i++) {
    const uintptr_t sp = f.sp;
    const struct rule r = find_rule(f.pc - 1, is_sure);
    is_sure = base_of(r) != MPROF_CFA_UNKNOWN;
    if (base_of(r) == MPROF_CFA_OF_SIGNAL)
      return ascend_signal(range, range == &foreign, &f) ? (const void *)sp
                                                         : NULL;
    if (base_of(r) == MPROF_CFA_ROOT ||
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
    uintptr_t next = word_at(fp);
    if (next - fp - 16 > MPROF_MAX_FRAME_BYTES || (next & 15) != 0 ||
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
    return word_at(frame + 8) == pc;
  struct mprof_registers f = {
      .pc = word_at(fp + 8), .sp = fp + 16, .bp = word_at(fp)};
  while (f.sp <= frame) {
    if (f.bp == frame)
      return mprof_stack_reaches(range, is_foreign, frame) &&
             word_at(frame + 8) == pc;
    const struct rule r = find_rule(f.pc - 1, true);
    if (base_of(r) == MPROF_CFA_ROOT || base_of(r) == MPROF_CFA_UNKNOWN ||
        base_of(r) == MPROF_CFA_OF_SIGNAL || !ascend(range, is_foreign, r, &f))
      return false;
  }
  return false;
}

// Follows frame pointers from fp up to the entry, the runtime's function that
// the program has called. All frames between fp and the entry belong to
// functions of the runtime, which keep frame pointers.
uintptr_t mprof_entry_frame(struct mprof_stack_range *range, uintptr_t fp) {
  enum { BETWEEN_MAX = 16 };
  struct mprof_stack_range foreign;
  range = mprof_stack_enter(range, &foreign, fp);
  for (int i = 0; range && i < BETWEEN_MAX; i++) {
    const bool is_called_by_entry = mprof_is_entry(word_at(fp + 8) - 1);
    uintptr_t next = word_at(fp);
    if (next - fp - 16 > MPROF_MAX_FRAME_BYTES || (next & 15) != 0 ||
        !mprof_stack_reaches(range, range == &foreign, next))
      return 0;
    fp = next;
    if (is_called_by_entry)
      return fp;
  }
  return 0;
}
