// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinds stacks that begin in uninstrumented code, by call frame information
// (eh_frame.h). The rule for a code address tells where the caller's frame is.
// A rule fits in one word and is cached, so most steps need only one table
// lookup. Code without call frame information is assumed to keep frame
// pointers.

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

// Layout of the word `packed`, starting at bit 0: base (2 bits), bp_is_saved
// (1), bp_words (20), cfa_words (25), hash of the address (16).
#define BP_BITS 20
#define CFA_BITS 25

static uint64_t hash_of(uintptr_t pc) { return pc * 0x9e3779b97f4a7c15u; }

static int32_t signed_bits(uint64_t v, unsigned bits) {
  return (int32_t)((uint32_t)v << (32 - bits)) >> (32 - bits);
}

static uint64_t pack(const struct mprof_cfa_rule *r, uint64_t hash) {
  return (uint64_t)r->base | (uint64_t)r->bp_is_saved << 2 |
         ((uint64_t)(uint32_t)r->bp_words & ((1u << BP_BITS) - 1)) << 3 |
         ((uint64_t)(uint32_t)r->cfa_words & ((1u << CFA_BITS) - 1))
             << (3 + BP_BITS) |
         (hash & 0xffff) << 48;
}

static struct mprof_cfa_rule unpack(uint64_t p) {
  return (struct mprof_cfa_rule){.base = (enum mprof_cfa_base)(p & 3),
                                 .bp_is_saved = p >> 2 & 1,
                                 .bp_words = signed_bits(p >> 3, BP_BITS),
                                 .cfa_words =
                                     signed_bits(p >> (3 + BP_BITS), CFA_BITS)};
}

static bool fits(const struct mprof_cfa_rule *r) {
  return signed_bits((uint32_t)r->bp_words, BP_BITS) == r->bp_words &&
         signed_bits((uint32_t)r->cfa_words, CFA_BITS) == r->cfa_words;
}

static struct mprof_cfa_rule find_rule(uintptr_t pc) {
  uint64_t hash = hash_of(pc);
  size_t i = hash >> (64 - LG_REMEMBERED);
  uint64_t packed =
      atomic_load_explicit(&remembered[i].packed, memory_order_relaxed);
  if (mprof_likely(
          atomic_load_explicit(&remembered[i].pc, memory_order_relaxed) == pc &&
          packed >> 48 == (hash & 0xffff)))
    return unpack(packed);
  struct mprof_cfa_rule r = mprof_eh_rule(pc);
  if (!fits(&r))
    r = (struct mprof_cfa_rule){.base = MPROF_CFA_UNKNOWN};
  atomic_store_explicit(&remembered[i].pc, pc, memory_order_relaxed);
  atomic_store_explicit(&remembered[i].packed, pack(&r, hash),
                        memory_order_relaxed);
  return r;
}

void mprof_unwind_forget(void) {
  for (size_t i = 0; i < sizeof(remembered) / sizeof(remembered[0]); i++)
    atomic_store_explicit(&remembered[i].pc, 0, memory_order_relaxed);
}

// --- following a stack ---

// Start and end of the section mprof_text, which has the runtime's entries. The
// linker defines these two symbols.
#define SECTION_END __attribute__((weak, visibility("hidden")))
extern const char __start_mprof_text[] SECTION_END;
extern const char __stop_mprof_text[] SECTION_END;

// Returns whether pc lies in an entry of the runtime, that is, in a function
// that the program calls in place of a hooked function. An entry calls the
// hooked function, which may cause events itself. For example, pthread_create
// allocates memory. The stacks of these events must not show the entry.
static bool is_entry(uintptr_t pc) {
  return pc - (uintptr_t)__start_mprof_text <
         (uintptr_t)(__stop_mprof_text - __start_mprof_text);
}

// Reads the word at addr in any frame of the stack. Sanitizers must not check
// this read, because the word may belong to another function's frame.
__attribute__((no_sanitize("address", "thread", "memory"))) static uintptr_t
word_at(uintptr_t addr) {
  return *(const uintptr_t *)addr;
}

// Replaces *f, the registers of a frame, by the registers of its caller, as
// rule *r describes. Returns false if the caller's frame cannot be found.
static bool ascend(struct mprof_stack_range *range, bool is_foreign,
                   const struct mprof_cfa_rule *r, struct mprof_registers *f) {
  bool by_bp = r->base != MPROF_CFA_FROM_SP;
  uintptr_t cfa =
      (by_bp ? f->bp : f->sp) + (r->base == MPROF_CFA_UNKNOWN
                                     ? 16
                                     : (uintptr_t)(intptr_t)r->cfa_words * 8);
  // The first comparison checks both bounds of cfa. If cfa is not above sp, the
  // unsigned difference is huge.
  if (cfa - f->sp - 8 > MPROF_MAX_FRAME_BYTES || (cfa & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, cfa - 16))
    return false;
  uintptr_t bp = f->bp;
  if (r->base == MPROF_CFA_UNKNOWN) {
    bp = word_at(cfa - 16);
  } else if (r->bp_is_saved) {
    uintptr_t saved = cfa + (uintptr_t)(intptr_t)r->bp_words * 8;
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

static size_t follow(struct mprof_stack_range *own, struct mprof_registers f,
                     mprof_pc *pcs, size_t depth, enum mprof_stack_end *end) {
  struct mprof_stack_range foreign;
  struct mprof_stack_range *range =
      mprof_stack_enter(own, &foreign, f.sp & -(uintptr_t)16);
  const uintptr_t main_frame = (uintptr_t)__mprof_main_frame;
  size_t n = 0;
  // True: f.pc is certainly a return address of this thread. The module of f.pc
  // then cannot be unloaded now, so its call frame information may be read.
  // False: f.pc is only a guess, because the step before went through code
  // without call frame information.
  bool is_sure = true;
  *end = MPROF_STACK_CUT_DEPTH;
  while (n < depth) {
    if (f.pc < MPROF_PAGE || f.pc >> 47) {
      *end = f.pc == 0 ? MPROF_STACK_COMPLETE : MPROF_STACK_CUT_CHAIN;
      break;
    }
    if (!is_entry(f.pc - 1))
      pcs[n++] = f.pc;
    // Looks up f.pc - 1, which is a byte of the call instruction. f.pc itself
    // may already be the start of the next function, because the call may be
    // the last instruction of its function.
    struct mprof_cfa_rule r = {.base = MPROF_CFA_UNKNOWN};
    if (is_sure)
      r = find_rule(f.pc - 1);
    is_sure = r.base != MPROF_CFA_UNKNOWN;
    // True: f.pc is the address to which a signal handler returns. In this case
    // f.bp is the frame pointer of the interrupted code. So f.bp may be the
    // frame address of main although f is not main's frame.
    const bool is_of_handler = !is_sure && mprof_is_signal_return(f.pc);
    if (main_frame != 0 && f.bp == main_frame &&
        (r.base == MPROF_CFA_FROM_BP || (!is_sure && !is_of_handler))) {
      *end = MPROF_STACK_COMPLETE;
      return n;
    }
    if (r.base == MPROF_CFA_ROOT || mprof_is_context_root(f.pc)) {
      *end = MPROF_STACK_COMPLETE;
      break;
    }
    if (!range) { // the stack at f.sp is not readable
      *end = MPROF_STACK_CUT_CHAIN;
      break;
    }
    if (is_of_handler && ascend_signal(range, range == &foreign, &f)) {
      // The handler may have run on an alternate signal stack, so the new f.sp
      // may lie on another stack.
      range = mprof_stack_enter(own, &foreign, f.sp & -(uintptr_t)16);
      is_sure = true;
      continue;
    }
    if (!ascend(range, range == &foreign, &r, &f)) {
      *end = r.base == MPROF_CFA_UNKNOWN && f.bp == 0 ? MPROF_STACK_COMPLETE
                                                      : MPROF_STACK_CUT_CHAIN;
      break;
    }
  }
  return *end == MPROF_STACK_COMPLETE ? without_roots(pcs, n) : n;
}

size_t mprof_unwind_cfi(struct mprof_stack_range *own, uintptr_t fp,
                        mprof_pc *pcs, size_t depth,
                        enum mprof_stack_end *end) {
  *end = MPROF_STACK_CUT_DEPTH;
  if (depth == 0)
    return 0;
  struct mprof_stack_range foreign;
  if (!mprof_stack_enter(own, &foreign, fp))
    return 0;
  const struct mprof_registers caller = {
      .pc = word_at(fp + 8), .sp = fp + 16, .bp = word_at(fp)};
  return follow(own, caller, pcs, depth, end);
}

size_t mprof_unwind_registers(struct mprof_stack_range *own,
                              const struct mprof_registers *from, mprof_pc *pcs,
                              size_t depth, enum mprof_stack_end *end) {
  return follow(own, *from, pcs, depth, end);
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
  bool is_sure = true; // f.pc is certainly a return address; see follow
  for (int i = 0; i < FRAMES_MAX && f.pc >= MPROF_PAGE && f.pc >> 47 == 0;
       i++) {
    const uintptr_t sp = f.sp;
    struct mprof_cfa_rule r = {.base = MPROF_CFA_UNKNOWN};
    if (is_sure)
      r = find_rule(f.pc - 1);
    is_sure = r.base != MPROF_CFA_UNKNOWN;
    if (!is_sure && mprof_is_signal_return(f.pc))
      return ascend_signal(range, range == &foreign, &f) ? (const void *)sp
                                                         : NULL;
    if (r.base == MPROF_CFA_ROOT || !ascend(range, range == &foreign, &r, &f))
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
    struct mprof_cfa_rule r = find_rule(f.pc - 1);
    if (r.base == MPROF_CFA_ROOT || r.base == MPROF_CFA_UNKNOWN ||
        !ascend(range, is_foreign, &r, &f))
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
    const bool is_called_by_entry = is_entry(word_at(fp + 8) - 1);
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
