// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes unwind rules from call frame information and caches them. See rules.h.

#include "unwind/rules.h"

#include "sys/context.h"
#include "sys/os.h"
#include "unwind/unwind.h"

#include <string.h>

struct mprof_cached_rule mprof_cached_rules[1u << MPROF_LG_RULES];

// Start and end of the section mprof_text. It contains the runtime's entries,
// which are functions that the program calls in place of hooked functions. The
// linker defines these two symbols.
#define SECTION_END __attribute__((weak, visibility("hidden")))
extern const char __start_mprof_text[] SECTION_END;
extern const char __stop_mprof_text[] SECTION_END;

bool mprof_is_entry(uintptr_t pc) {
  return pc - (uintptr_t)__start_mprof_text <
         (uintptr_t)(__stop_mprof_text - __start_mprof_text);
}

bool mprof_is_signal_return(uintptr_t pc) {
  unsigned char code[MPROF_SIGNAL_RETURN_BYTES];
  return mprof_os_copy(code, pc, sizeof(code)) &&
         mprof_is_signal_return_code(code);
}

// Returns whether a call may precede pc, which is code and less than
// MPROF_CALL_BYTES_MAX bytes behind the begin of its page. The page before may
// be unmapped at any time, so the kernel copies its bytes. Bytes that do not
// exist are no call. Returns true if a seccomp filter refuses the copy.
static bool may_follow_call_on_page_before(uintptr_t pc) {
  const size_t here = pc & (MPROF_PAGE - 1);
  const size_t before = MPROF_CALL_BYTES_MAX - here;
  unsigned char bytes[MPROF_CALL_BYTES_MAX] = {0}, readable;
  if (mprof_sys_copy(bytes, pc - MPROF_CALL_BYTES_MAX, before) != before &&
      mprof_sys_copy(&readable, pc, sizeof(readable)) != sizeof(readable))
    return true;
  memcpy(bytes + before, (const void *)(pc - here), here);
  return mprof_follows_call((uintptr_t)bytes + MPROF_CALL_BYTES_MAX);
}

bool mprof_is_made_return(uintptr_t pc, enum mprof_cfa_base base) {
  if (base == MPROF_CFA_OF_SIGNAL)
    return false;
  if ((pc & (MPROF_PAGE - 1)) < MPROF_CALL_BYTES_MAX)
    return mprof_eh_function(pc).begin == pc &&
           !may_follow_call_on_page_before(pc);
  // If pc - 1 has a rule, it is code. Then the quick test comes first.
  if (base != MPROF_CFA_UNKNOWN && mprof_follows_call(pc))
    return false;
  return mprof_eh_function(pc).begin == pc && !mprof_follows_call(pc);
}

static uint64_t bits_of(int32_t v, unsigned bits) {
  return (uint32_t)v & ((1u << bits) - 1);
}

#if MPROF_RA_IS_PUSHED
static int32_t bp_field(const struct mprof_cfa_rule *r) { return r->bp_words; }

static int32_t ra_field(const struct mprof_cfa_rule *r) { return (void)r, 0; }
#else
static int32_t bp_field(const struct mprof_cfa_rule *r) {
  return r->bp_is_saved || !r->ra_is_saved ? r->bp_words : r->ra_words;
}

static int32_t ra_field(const struct mprof_cfa_rule *r) {
  return r->ra_is_saved ? MPROF_RULE_RA_AT_BP + r->ra_words - bp_field(r) : 0;
}
#endif

static struct mprof_rule pack(const struct mprof_cfa_rule *r) {
  return (struct mprof_rule){
      (uint64_t)r->base | (r->bp_is_saved ? MPROF_RULE_BP_SAVED : 0) |
      bits_of(bp_field(r), MPROF_RULE_BP_BITS) << MPROF_RULE_BP_AT |
      bits_of(r->cfa_words, MPROF_RULE_CFA_BITS) << MPROF_RULE_CFA_AT |
      bits_of(ra_field(r), MPROF_RULE_RA_BITS) << MPROF_RULE_RA_AT};
}

static uintptr_t offset_of(int32_t words) {
  return (uintptr_t)(intptr_t)words * 8;
}

static bool fits(const struct mprof_cfa_rule *r) {
  const struct mprof_rule packed = pack(r);
  return mprof_rule_bp_offset(packed) == offset_of(bp_field(r)) &&
         mprof_rule_cfa_offset(packed) == offset_of(r->cfa_words) &&
         mprof_rule_saves_ra(packed) == r->ra_is_saved &&
         (!r->ra_is_saved ||
          mprof_rule_ra_offset(packed) == offset_of(r->ra_words));
}

static void drop_unfit(struct mprof_cfa_rule *r) {
  if (r->base != MPROF_CFA_UNKNOWN && r->base != MPROF_CFA_ROOT && !fits(r))
    *r = (struct mprof_cfa_rule){.base = MPROF_CFA_UNKNOWN};
}

// Returns whether a register is saved, `words` words from the CFA, in the frame
// with rule r.
static bool is_in_frame(const struct mprof_cfa_rule *r, bool is_saved,
                        int32_t words) {
  return is_saved && words < 0 && words >= -r->cfa_words;
}

// Returns whether rule r for pc is plain; see mprof_rule_is_plain.
static bool is_plain(uintptr_t pc, const struct mprof_cfa_rule *r) {
  if (r->base != MPROF_CFA_FROM_BP && r->base != MPROF_CFA_FROM_SP)
    return false;
  if (mprof_is_entry(pc) || mprof_is_made_return(pc + 1, r->base))
    return false;
  if (r->base == MPROF_CFA_FROM_BP)
    return mprof_rule_keeps_frame_pointer(pack(r));
  const int32_t most = MPROF_MAX_FRAME_BYTES / 8;
  return !mprof_is_root(pc + 1) && r->cfa_words > 0 && r->cfa_words <= most &&
         is_in_frame(r, r->ra_is_saved, r->ra_words) &&
         (!r->bp_is_saved || is_in_frame(r, true, r->bp_words));
}

// Returns whether a call precedes pc, a guess in a module that may be unloaded.
static bool may_follow_call(uintptr_t pc) {
  unsigned char bytes[MPROF_CALL_BYTES_MAX];
  return mprof_os_copy(bytes, pc - sizeof(bytes), sizeof(bytes)) &&
         mprof_follows_call((uintptr_t)bytes + sizeof(bytes));
}

// Changes *r, the rule for pc, if the call frame information is not enough: it
// may be missing, and pc may be a guess. Sets *is_settled to false if the rule
// is not known yet.
static void check(uintptr_t pc, bool is_sure, bool is_in_module,
                  struct mprof_cfa_rule *r, bool *is_settled) {
  if (r->base == MPROF_CFA_UNKNOWN && mprof_is_signal_return(pc + 1))
    r->base = MPROF_CFA_OF_SIGNAL;
  if (r->base == MPROF_CFA_OF_SIGNAL || mprof_is_context_root(pc + 1))
    return;
  if (is_in_module) {
    if (!is_sure && !may_follow_call(pc + 1))
      r->base = MPROF_CFA_NO_CODE;
    return;
  }
  const enum mprof_jit_answer answer = mprof_jit_look(pc, is_sure);
  *is_settled = answer != MPROF_JIT_UNKNOWN;
  if (answer == MPROF_JIT_CODE) {
    *r = mprof_jit_rule(pc, is_settled);
    drop_unfit(r);
  } else if (!is_sure) {
    r->base = MPROF_CFA_NO_CODE;
  }
}

static struct mprof_rule make(uintptr_t pc, bool is_sure, bool *is_settled) {
  bool is_in_module = true;
  struct mprof_cfa_rule r =
      is_sure ? mprof_eh_rule(pc) : mprof_eh_rule_of_guess(pc, &is_in_module);
  if (is_sure && r.base == MPROF_CFA_UNKNOWN)
    is_in_module = mprof_eh_module(pc).end != 0;
  drop_unfit(&r);
  if (!is_sure || r.base == MPROF_CFA_UNKNOWN)
    check(pc, is_sure, is_in_module, &r, is_settled);
  struct mprof_rule packed = pack(&r);
  // The code at a guessed pc must not be read.
  if (is_sure && is_plain(pc, &r))
    packed.word |= MPROF_RULE_PLAIN;
  return packed;
}

MPROF_NOINLINE struct mprof_rule mprof_rule_read(uintptr_t pc, bool is_sure) {
  const uintptr_t key = is_sure ? pc : ~pc;
  const uint64_t hash = mprof_rule_hash(key);
  struct mprof_cached_rule *c =
      &mprof_cached_rules[hash >> (64 - MPROF_LG_RULES)];
  bool is_settled = true;
  struct mprof_rule r = make(pc, is_sure, &is_settled);
  r.word |= hash << 16 >> MPROF_RULE_HASH_AT << MPROF_RULE_HASH_AT;
  if (!is_settled)
    return r;
  // In this order, so that a thread that sees the key does not see a rule from
  // before the last mprof_unwind_forget.
  atomic_store_explicit(&c->packed, r.word, memory_order_relaxed);
  atomic_store_explicit(&c->key, key, memory_order_release);
  return r;
}

static void forget(struct mprof_cached_rule *c) {
  atomic_store_explicit(&c->key, 0, memory_order_relaxed);
  atomic_store_explicit(&c->packed, 0, memory_order_relaxed);
}

void mprof_rule_forget(uintptr_t pc) {
  const uint64_t hash = mprof_rule_hash(pc);
  forget(&mprof_cached_rules[hash >> (64 - MPROF_LG_RULES)]);
}

void mprof_unwind_forget(void) {
  for (size_t i = 0; i < 1u << MPROF_LG_RULES; i++)
    forget(&mprof_cached_rules[i]);
}
