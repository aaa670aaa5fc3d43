// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache of unwind rules. The rule for a code address tells where the
// caller's frame is. It is read from call frame information (eh_frame.h), fits
// in one word, and is cached, so most steps of the unwinder need only one
// lookup in this cache. The functions take no lock and may run in signal
// handlers.

#ifndef MPROF_RT_UNWIND_RULES_H
#define MPROF_RT_UNWIND_RULES_H

#include "sys/arch.h"
#include "unwind/eh_frame.h"

// A struct mprof_cfa_rule in one word, which is also the layout of the word
// `packed` of the cache. Starting at bit 0: base (3 bits), bp_is_saved (1),
// is_plain (1), bp_words (19), cfa_words (24), hash of the address (16).
//
// If calls do not push the return address, cfa_words has only 20 bits. The next
// 4 bits tell where the return address is: 0: in its register. Otherwise it is
// saved RA - MPROF_RULE_RA_AT_BP words above the saved frame pointer. If the
// frame pointer is not saved, bp_words has the place of the return address.
struct mprof_rule {
  uint64_t word;
};
enum {
  MPROF_RULE_BASE_BITS = 3,
  MPROF_RULE_BP_SAVED = 1 << 3,
  MPROF_RULE_PLAIN = 1 << 4,
  MPROF_RULE_BP_AT = 5,
  MPROF_RULE_BP_BITS = 19,
  MPROF_RULE_CFA_AT = MPROF_RULE_BP_AT + MPROF_RULE_BP_BITS,
  MPROF_RULE_RA_BITS = MPROF_RA_IS_PUSHED ? 0 : 4,
  MPROF_RULE_RA_AT_BP = 8,
  MPROF_RULE_CFA_BITS = 24 - MPROF_RULE_RA_BITS,
  MPROF_RULE_RA_AT = MPROF_RULE_CFA_AT + MPROF_RULE_CFA_BITS,
  MPROF_RULE_HASH_AT = MPROF_RULE_RA_AT + MPROF_RULE_RA_BITS
};

static inline enum mprof_cfa_base mprof_rule_base(struct mprof_rule r) {
  return (enum mprof_cfa_base)(r.word & ((1u << MPROF_RULE_BASE_BITS) - 1));
}
static inline bool mprof_rule_saves_bp(struct mprof_rule r) {
  return (r.word & MPROF_RULE_BP_SAVED) != 0;
}
// Returns the offset of the saved frame pointer from the CFA, in bytes.
static inline uintptr_t mprof_rule_bp_offset(struct mprof_rule r) {
  return (uintptr_t)((int64_t)(r.word << (64 - MPROF_RULE_CFA_AT)) >>
                     (64 - MPROF_RULE_BP_BITS)) *
         8;
}
// Returns the offset of the CFA from the base register, in bytes.
static inline uintptr_t mprof_rule_cfa_offset(struct mprof_rule r) {
  return (uintptr_t)((int64_t)(r.word << (64 - MPROF_RULE_RA_AT)) >>
                     (64 - MPROF_RULE_CFA_BITS)) *
         8;
}

#if MPROF_RA_IS_PUSHED
static inline bool mprof_rule_saves_ra(struct mprof_rule r) {
  return (void)r, true;
}
// Returns the offset of the saved return address from the CFA, in bytes.
static inline uintptr_t mprof_rule_ra_offset(struct mprof_rule r) {
  return (void)r, (uintptr_t)-8;
}

// The bits of a rule that describe a frame pointer: the CFA is the frame
// pointer register plus 2 words, and the caller's frame pointer is saved 2
// words below the CFA.
#define MPROF_RULE_CHAIN                                                       \
  ((uint64_t)MPROF_CFA_FROM_BP | MPROF_RULE_BP_SAVED |                         \
   ((UINT64_C(1) << MPROF_RULE_BP_BITS) - 2) << MPROF_RULE_BP_AT |             \
   UINT64_C(2) << MPROF_RULE_CFA_AT)
// Returns whether the code with rule r keeps a frame pointer. The frame pointer
// register then points to the caller's frame pointer, and the return address
// follows in memory. So the caller is the next frame in the chain of frame
// pointers. Code without call frame information is assumed to keep a frame
// pointer.
static inline bool mprof_rule_keeps_frame_pointer(struct mprof_rule r) {
  const uint64_t mask =
      ((UINT64_C(1) << MPROF_RULE_HASH_AT) - 1) & ~(uint64_t)MPROF_RULE_PLAIN;
  return (r.word & mask) == MPROF_RULE_CHAIN ||
         mprof_rule_base(r) == MPROF_CFA_UNKNOWN;
}
// Returns the offset of the CFA from the frame pointer register, in bytes, for
// code that keeps a frame pointer.
static inline uintptr_t mprof_rule_chain_offset(struct mprof_rule r) {
  return (void)r, 16;
}
#else
static inline unsigned mprof_rule_ra(struct mprof_rule r) {
  return r.word >> MPROF_RULE_RA_AT & ((1u << MPROF_RULE_RA_BITS) - 1);
}
static inline bool mprof_rule_saves_ra(struct mprof_rule r) {
  return mprof_rule_ra(r) != 0;
}
static inline uintptr_t mprof_rule_ra_offset(struct mprof_rule r) {
  return mprof_rule_bp_offset(r) +
         (uintptr_t)((intptr_t)mprof_rule_ra(r) - MPROF_RULE_RA_AT_BP) * 8;
}
// The frame pointer register points to the saved frame pointer, wherever it is
// in the frame. The return address follows in memory.
static inline bool mprof_rule_keeps_frame_pointer(struct mprof_rule r) {
  return mprof_rule_base(r) == MPROF_CFA_UNKNOWN ||
         (mprof_rule_base(r) == MPROF_CFA_FROM_BP && mprof_rule_saves_bp(r) &&
          mprof_rule_ra(r) == MPROF_RULE_RA_AT_BP + 1 &&
          mprof_rule_cfa_offset(r) + mprof_rule_bp_offset(r) == 0);
}
static inline uintptr_t mprof_rule_chain_offset(struct mprof_rule r) {
  return mprof_rule_base(r) == MPROF_CFA_UNKNOWN ? 16
                                                 : mprof_rule_cfa_offset(r);
}
#endif

// A plain rule is for code that is not special: the code is no entry of the
// runtime, no known root of a stack, and no mprof_is_made_return. In addition,
// either the code keeps a frame pointer, or the caller's frame lies above the
// stack pointer at a fixed and sensible distance. Most rules are plain. So the
// unwinder has a loop of its own for them, which makes fewer checks.
static inline bool mprof_rule_is_plain(struct mprof_rule r) {
  return (r.word & MPROF_RULE_PLAIN) != 0;
}
static inline bool mprof_rule_is_plain_from_sp(struct mprof_rule r) {
  const uint64_t mask =
      ((1u << MPROF_RULE_BASE_BITS) - 1) | (uint64_t)MPROF_RULE_PLAIN;
  return (r.word & mask) == (MPROF_CFA_FROM_SP | (uint64_t)MPROF_RULE_PLAIN);
}
static inline bool mprof_rule_is_plain_chain(struct mprof_rule r) {
#if MPROF_RA_IS_PUSHED
  return r.word << (64 - MPROF_RULE_HASH_AT) ==
         (MPROF_RULE_CHAIN | MPROF_RULE_PLAIN) << (64 - MPROF_RULE_HASH_AT);
#else
  const uint64_t mask =
      ((1u << MPROF_RULE_BASE_BITS) - 1) | (uint64_t)MPROF_RULE_PLAIN;
  return (r.word & mask) == (MPROF_CFA_FROM_BP | (uint64_t)MPROF_RULE_PLAIN);
#endif
}

// The cache. Threads write an entry without a lock, so the two words of an
// entry may come from different threads. Therefore the word `packed` repeats 16
// bits of the hash of `key`: bits 32 to 47, which depend on most bits of the
// address. A reader uses an entry only if both words match the key that the
// reader looks up.
#define MPROF_LG_RULES 12
struct mprof_cached_rule {
  _Atomic uintptr_t key; // the address pc, or ~pc if pc is only a guess
  _Atomic uint64_t packed;
};
extern MPROF_HIDDEN struct mprof_cached_rule
    mprof_cached_rules[1u << MPROF_LG_RULES];

static inline uint64_t mprof_rule_hash(uintptr_t key) {
  return key * 0x9e3779b97f4a7c15u;
}
// Stores in *r the cached rule for a key. Returns false if it is not cached.
static inline bool mprof_rule_is_cached(uintptr_t key, struct mprof_rule *r) {
  const uint64_t hash = mprof_rule_hash(key);
  const struct mprof_cached_rule *c =
      &mprof_cached_rules[hash >> (64 - MPROF_LG_RULES)];
  const bool is_its_key =
      atomic_load_explicit(&c->key, memory_order_acquire) == key;
  r->word = atomic_load_explicit(&c->packed, memory_order_relaxed);
  return mprof_likely(is_its_key &&
                      (r->word ^ hash << 16) >> MPROF_RULE_HASH_AT == 0);
}
// The part of mprof_rule_of for a rule that is not cached. Do not call this
// function; call mprof_rule_of.
struct mprof_rule mprof_rule_read(uintptr_t pc, bool is_sure);
// Returns the rule for pc, which is the last byte of a call instruction. If
// is_sure is false, pc is only a guess, so the module of pc may be unloaded at
// any time. In this case the module's call frame information is not read.
static inline struct mprof_rule mprof_rule_of(uintptr_t pc, bool is_sure) {
  struct mprof_rule r;
  return mprof_rule_is_cached(is_sure ? pc : ~pc, &r)
             ? r
             : mprof_rule_read(pc, is_sure);
}

// Drops the cached rule for pc. Called when pc becomes a known root.
void mprof_rule_forget(uintptr_t pc);
// Drops all cached rules. Called when a module was unloaded, because other code
// may be loaded at the module's addresses.
void mprof_unwind_forget(void);

// Returns whether pc lies in an entry of the runtime, that is, in a function
// that the program calls in place of a hooked function. The entry calls the
// hooked function, which may cause events. For example, pthread_create
// allocates memory. Unwound stacks do not contain entries.
bool mprof_is_entry(uintptr_t pc);
// Returns whether a signal handler returns to pc. The test compares the
// instructions at pc with libc's instructions that call rt_sigreturn. Debuggers
// use the same test.
bool mprof_is_signal_return(uintptr_t pc);
// Returns whether pc is the first address of a function, although no call
// precedes it. Then no call has stored pc as its return address. Instead, a
// library such as libco has stored it at the root of a stack, so that this
// function runs if the first function of the stack returns. base: the base of
// the rule for pc - 1.
bool mprof_is_made_return(uintptr_t pc, enum mprof_cfa_base base);

#endif // MPROF_RT_UNWIND_RULES_H
