// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the runtime that rewritten code sees: the data words that the
// inlined fast path reads and writes, and the entries that hooks.def names.
// Beside these, only the public API of mprof/mprof.h has default visibility.
// A change here that rewritten code can see needs a new MPROF_ABI_VERSION.

#ifndef MPROF_RT_SYS_ABI_WORDS_H
#define MPROF_RT_SYS_ABI_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "mprof/hooks.def"

// The entries lie in a section of their own. So an unwinder can tell an entry's
// frame from the program's frames and leave it out of stacks.
#define MPROF_TEXT_SECTION __attribute__((section("mprof_text")))
#define MPROF_ENTRY                                                            \
  __attribute__((visibility("default"), noinline)) MPROF_TEXT_SECTION
#define MPROF_DATA __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// Bytes that this thread may still allocate before its next sample. The word is
// 0 in a new thread, so the thread's first allocation calls the runtime, which
// draws the first distance. A site compares before it subtracts. So the value
// goes below 0 only on the way into the runtime; for a request that no
// allocator can serve, it wraps around. Only the thread itself writes the word,
// with one exception: mprof_set_heap_rate stores 0 in the words of other
// threads, and waits until those threads see the 0.
extern MPROF_DATA __thread int64_t __mprof_heap_countdown
    __attribute__((tls_model("initial-exec")));

// Does what a site does before it calls the function: subtracts size bytes from
// the countdown, modulo 2^64. Returns whether the site must call the runtime.
static inline int mprof_count_down(uint64_t size) {
  const uint64_t before = (uint64_t)__mprof_heap_countdown;
  __mprof_heap_countdown = (int64_t)(before - size);
  return before <= size;
}
// Undoes mprof_count_down for a request that will fail. An entry that does not
// call mprof_sample_hit must call this, since the countdown may have wrapped.
static inline void mprof_count_back(uint64_t size) {
  __mprof_heap_countdown = (int64_t)((uint64_t)__mprof_heap_countdown + size);
}

// hooks.def explains these words. The masks are written under registry_lock,
// before the first block is counted that needs the new value. They only ever go
// to 0. Instrumented main stores its frame address in __mprof_main_frame.
extern MPROF_DATA uintptr_t __mprof_free_mask;
extern MPROF_DATA uintptr_t __mprof_delete_mask;
extern MPROF_DATA uintptr_t __mprof_custom_mask;
extern MPROF_DATA void *__mprof_main_frame;
// The outermost allocator call of this thread; see nested_alloc.h. Only the
// thread itself uses the two words.
extern MPROF_DATA __thread uintptr_t __mprof_nested_frame
    __attribute__((tls_model("initial-exec")));
extern MPROF_DATA __thread uintptr_t __mprof_nested_return
    __attribute__((tls_model("initial-exec")));
// Written under registry_lock. Sites read both words without the lock.
extern MPROF_DATA uint64_t __mprof_sync_kinds;
extern MPROF_DATA uint64_t __mprof_owned_mask;
// The table of waiters. The slot's lock in waiters.c guards each word; sites
// read the words without it.
#define MPROF_WAITER_SLOTS 1024u
extern MPROF_DATA uint32_t __mprof_waiters[MPROF_WAITER_SLOTS];
// Bit of a waiters' word: a waiter has come since one of the slot's locks was
// last charged.
#define MPROF_WAITER_CAME (1u << 31)
// Set in all waiters' words while lock holds are recorded (holds.h), so that
// sites call the runtime for uncontended locks, too.
#define MPROF_WAITER_ANY (1u << 30)
// Returns the slot of an object. All objects of a cache line share one.
static inline size_t mprof_waiter_slot(uintptr_t object) {
  return object >> 6 & (MPROF_WAITER_SLOTS - 1);
}

// Pointers to the functions that sites call; see beneath.h. mprof_next_find
// writes them before the program has threads.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern MPROF_DATA void *__mprof_next_##Symbol;
#include "mprof/hooks.def"

// Each object file refers to the symbol of the version that it was compiled
// for, so objects of another version do not link.
#define MPROF_ABI_NAME_(v) __mprof_abi_v##v
#define MPROF_ABI_NAME(v) MPROF_ABI_NAME_(v)
extern MPROF_DATA const char MPROF_ABI_NAME(MPROF_ABI_VERSION);

#ifdef __cplusplus
}
#endif

#endif // MPROF_RT_SYS_ABI_WORDS_H
