// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call frame information (.eh_frame) of a code address: the range of its
// function, and the unwind rule, which tells where the caller's frame is, even
// in code without frame pointers.
//
// rules.h finds the module's tables without the loader's lock. The
// functions below read only memory that the loader has mapped. They allocate
// nothing and take no lock, so they may be called anywhere, including in signal
// handlers. The rules are cached, because most return addresses are seen again
// and again.

#ifndef MPROF_RT_UNWIND_RULES_H
#define MPROF_RT_UNWIND_RULES_H

#include "sys/arch.h"
#include "sys/base.h"

// Returns the range of the function that contains pc. If the compiler has split
// the function, returns only the part that contains pc. Returns an empty range
// if there is no call frame information for pc.
struct mprof_code_range {
  uintptr_t begin, end;
};
struct mprof_code_range mprof_eh_function(uintptr_t pc);

// Returns the range of the module (program or library) that contains pc.
// Returns an empty range if there is no such module.
struct mprof_code_range mprof_eh_module(uintptr_t pc);

// --- code made at run time ---
//
// Compilers of languages such as JavaScript and Java make code while the
// program runs (just in time). The code is in memory that no file has, and has
// no call frame information. It mostly keeps frame pointers. The runtime
// remembers in which ranges of memory such code is or was, because the memory
// may be gone when a profile is written.

// Returns whether addr is in such a range. Takes no lock.
bool mprof_jit_holds(uintptr_t addr);
// Does the same, but first reads the kernel's list of mappings if the address
// is in no known range. If is_sure is false, addr may be an arbitrary value.
// Then the list is read only from time to time, and MPROF_JIT_UNKNOWN means
// that it was not read. Async-signal-safe.
enum mprof_jit_answer { MPROF_JIT_NONE, MPROF_JIT_CODE, MPROF_JIT_UNKNOWN };
enum mprof_jit_answer mprof_jit_look(uintptr_t addr, bool is_sure);
// Returns the return address pc as it would be if the program had not mapped
// the code of a module a second time, and called the copy. Takes no lock.
mprof_pc mprof_jit_original(mprof_pc pc);
// Adds a range. Does nothing if another thread is adding one.
void mprof_jit_add(uintptr_t start, uintptr_t limit);
// Returns whether a mapping with this name in the kernel's list has no file.
// The name may end with a newline.
bool mprof_jit_is_memory(const char *name);
// Called in a forked child, which keeps the ranges.
void mprof_jit_reset(void);

// --- rules ---

// The rule is computed by running the instructions of the call frame
// information. Only the rules for the stack pointer, the frame pointer and the
// return address are computed.

// The base register: the CFA is the value of this register plus a fixed offset.
// The CFA (canonical frame address) is the value of the stack pointer after the
// function has returned to its caller.
enum mprof_cfa_base {
  MPROF_CFA_UNKNOWN,
  MPROF_CFA_FROM_SP,
  MPROF_CFA_FROM_BP,
  // The CFA is not a sum: it is the word stored at a fixed offset from the
  // frame pointer register, which points to the caller's frame pointer. gcc
  // writes this rule for functions that align the stack.
  MPROF_CFA_AT_BP,
  MPROF_CFA_ROOT, // no register: the code has no caller
  // No register: the code returns from a signal handler. mprof_eh_rule returns
  // MPROF_CFA_UNKNOWN for this code, and rules.c recognizes its
  // instructions.
  MPROF_CFA_OF_SIGNAL,
  // The address, a guess, is no return address: it is not in code, or follows
  // no call. mprof_eh_rule does not return it.
  MPROF_CFA_NO_CODE,
  // As MPROF_CFA_FROM_SP, for code made at run time. Other code may be at this
  // address by now, so the caller's address is a guess. mprof_eh_rule does not
  // return it.
  MPROF_CFA_LEAVES
};
struct mprof_cfa_rule {
  enum mprof_cfa_base base;
  // Offset in words. The CFA is the base register plus this offset. For
  // MPROF_CFA_AT_BP, the sum is the address of the word that contains the CFA.
  int32_t cfa_words;
  bool bp_is_saved;
  int32_t bp_words; // offset of the saved frame pointer from the CFA, in words
  // false: the return address is in its register. On processors whose calls
  // push the return address, it is always saved.
  bool ra_is_saved;
  int32_t ra_words; // offset of the saved return address from the CFA, in words
};

// Returns the rule for the code address pc. The rule's base is
// MPROF_CFA_UNKNOWN if pc has no call frame information, or if struct
// mprof_cfa_rule cannot express this information.
struct mprof_cfa_rule mprof_eh_rule(uintptr_t pc);
// Does the same if pc is only a guess, so that the module of pc may be unloaded
// at any time. The kernel copies what is read, so no fault can occur. Sets
// *is_in_module to whether a module contains pc.
struct mprof_cfa_rule mprof_eh_rule_of_guess(uintptr_t pc, bool *is_in_module);

// A copy of a part of the program's memory. Many small parts of memory that may
// be unmapped at any time are copied by few system calls.
struct mprof_window {
  uintptr_t at;
  size_t len;
  unsigned char bytes[1024];
};
// Copies size bytes at `from`, which end at or before `limit`. Memory up to
// `limit` may be read. Returns false if the bytes are not readable.
bool mprof_window_copy(struct mprof_window *w, void *to, uintptr_t from,
                       size_t size, uintptr_t limit);

// A section .eh_frame that no module has, and the begin of its section .text.
struct mprof_eh_section {
  uintptr_t start, limit, text;
};
// Does what mprof_eh_rule does, with a section that may be unmapped at any
// time. The section has no table, so its entries are read one after the other.
struct mprof_cfa_rule mprof_eh_rule_in(const struct mprof_eh_section *s,
                                       uintptr_t pc, struct mprof_window *w);

// --- object files of code made at run time (jit_objects.c) ---

// Looks for pc in the object files that the program has registered for GDB.
// Stores the rule for pc, whose base is MPROF_CFA_UNKNOWN if there is none, and
// remembers the name of the function. Returns false if no object file has pc.
// Sets *is_settled to false if another thread is looking. Async-signal-safe.
bool mprof_jit_object_rule(uintptr_t pc, struct mprof_cfa_rule *r,
                           bool *is_settled);
// Returns the name that was remembered for the address pc, or NULL. The name
// stays in memory.
const char *mprof_jit_object_name(uintptr_t pc);
// Called in a forked child, which keeps the names.
void mprof_jit_objects_reset(void);

// --- the cache of rules ---
//
// The cache of unwind rules. The rule for a code address tells where the
// caller's frame is. It is read from call frame information, fits in one word,
// and is cached, so most steps of the unwinder need only one lookup in this
// cache. The functions take no lock and may run in signal handlers.

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
// Returns whether the CFA is the stack pointer plus an offset.
static inline bool mprof_rule_is_from_sp(struct mprof_rule r) {
  return mprof_rule_base(r) == MPROF_CFA_FROM_SP ||
         mprof_rule_base(r) == MPROF_CFA_LEAVES;
}
// Returns whether the rule, that of a certain address, leads to a certain
// address of the caller. If not, the caller's address is a guess.
static inline bool mprof_rule_is_sure(struct mprof_rule r) {
  return mprof_rule_base(r) != MPROF_CFA_UNKNOWN &&
         mprof_rule_base(r) != MPROF_CFA_LEAVES;
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
// any time. In this case the kernel copies what is read of the module.
static inline struct mprof_rule mprof_rule_of(uintptr_t pc, bool is_sure) {
  struct mprof_rule r;
  return mprof_rule_is_cached(is_sure ? pc : ~pc, &r)
             ? r
             : mprof_rule_read(pc, is_sure);
}

// Returns the rule for pc in code made at run time. Sets *is_settled to false
// if the rule is not known yet.
struct mprof_cfa_rule mprof_jit_rule(uintptr_t pc, bool *is_settled);

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

// --- modules (find_module.c) ---
//
// Finds the module (program or library) that contains a code address, and the
// module's unwind tables. Uses _dl_find_object if libc has it (glibc 2.35).
// Otherwise reads the loader's list of modules, which it publishes for
// debuggers. Both ways take no lock, allocate nothing, and may be used in
// signal handlers.

struct mprof_code_module {
  uintptr_t start, limit; // the loader has mapped the module at [start, limit)
  const void *eh_frame_hdr;
};

// Stores the module that contains pc. Returns false if there is no such module,
// or if the module has no section .eh_frame_hdr.
bool mprof_find_module(uintptr_t pc, struct mprof_code_module *m);

// Stores the addresses of the definitions of a symbol in different modules, at
// most `max`, and returns their number. In contrast to mprof_module_symbol,
// takes no lock: the kernel copies all that is read. So a result may be wrong
// if a module is being loaded or unloaded, and may be unmapped at any time.
size_t mprof_find_definitions(const char *name, struct mprof_window *w,
                              uintptr_t *found, size_t max);

// Asks the loader for _dl_find_object. Takes the loader's lock, so call it when
// the runtime starts. Before, the loader's list is read.
void mprof_find_module_init(void);

#endif // MPROF_RT_UNWIND_RULES_H
