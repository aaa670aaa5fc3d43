// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What rewritten code sees of the runtime: the data words of the inlined fast
// path and the entries that hooks.def names. Nothing else of the runtime has
// default visibility but the public API.

#ifndef MPROF_RT_SYS_ABI_WORDS_H
#define MPROF_RT_SYS_ABI_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "mprof/hooks.def"

// Code in a section of its own, so that stacks can be told from what the
// runtime put into them.
#define MPROF_TEXT_SECTION __attribute__((section("mprof_text")))
#define MPROF_ENTRY                                                            \
  __attribute__((visibility("default"), noinline)) MPROF_TEXT_SECTION
#define MPROF_DATA __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// Bytes that this thread may still allocate before its next sample. 0 in a
// new thread, so its first allocation calls the runtime, which draws. A site
// compares before it subtracts, so the value only goes below 0, or wraps for a
// request that no allocator can serve, on the way into the runtime. Written by
// its own thread, and by mprof_set_heap_rate for the others: it stores 0 and
// waits until that is seen.
extern MPROF_DATA __thread int64_t __mprof_heap_countdown
    __attribute__((tls_model("initial-exec")));

// What a site does before the function is called: takes size bytes off the
// countdown, both modulo 2^64. Whether the runtime is to be asked.
static inline int mprof_count_down(uint64_t size) {
  const uint64_t before = (uint64_t)__mprof_heap_countdown;
  __mprof_heap_countdown = (int64_t)(before - size);
  return before <= size;
}
// Undoes it, for a request that will fail: an entry that does not ask
// mprof_sample_hit must, since the countdown may have gone around.
static inline void mprof_count_back(uint64_t size) {
  __mprof_heap_countdown = (int64_t)((uint64_t)__mprof_heap_countdown + size);
}

// See hooks.def. Written before the first block is counted that needs the new
// value, under the registry lock; they only ever go to 0.
extern MPROF_DATA uintptr_t __mprof_free_mask;
extern MPROF_DATA uintptr_t __mprof_delete_mask;
extern MPROF_DATA uintptr_t __mprof_custom_mask;
extern MPROF_DATA void *__mprof_main_frame;
// See nested_alloc.h. Only its own thread uses it.
extern MPROF_DATA __thread uintptr_t __mprof_nested_frame
    __attribute__((tls_model("initial-exec")));
extern MPROF_DATA __thread uintptr_t __mprof_nested_return
    __attribute__((tls_model("initial-exec")));
// Written under registry_lock, read by sites without.
extern MPROF_DATA uint64_t __mprof_sync_kinds;
extern MPROF_DATA uint64_t __mprof_owned_mask;
// A word is guarded by its slot's lock in waiters.c; sites read it without.
#define MPROF_WAITER_SLOTS 1024u
extern MPROF_DATA uint32_t __mprof_waiters[MPROF_WAITER_SLOTS];
// In such a word: somebody came since one of its locks was last charged.
#define MPROF_WAITER_CAME (1u << 31)
// Set in all words while it is recorded where locks are taken, so that sites
// call the runtime for free ones, too.
#define MPROF_WAITER_ANY (1u << 30)
static inline size_t mprof_waiter_slot(uintptr_t object) {
  return object >> 6 & (MPROF_WAITER_SLOTS - 1);
}

// The functions that sites call; see beneath.h. Written by mprof_next_find
// before the program has threads.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern MPROF_DATA void *__mprof_next_##Symbol;
#include "mprof/hooks.def"

// Objects refer to the version they were compiled for.
#define MPROF_ABI_NAME_(v) __mprof_abi_v##v
#define MPROF_ABI_NAME(v) MPROF_ABI_NAME_(v)
extern MPROF_DATA const char MPROF_ABI_NAME(MPROF_ABI_VERSION);

#ifdef __cplusplus
}
#endif

#endif // MPROF_RT_SYS_ABI_WORDS_H
