// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface between the runtime and instrumented code: the data words that
// the inlined fast path at a call site reads and writes. Instrumented code also
// calls the entries, which are the runtime's functions named in hooks.def.
// Apart from these words and entries, only the public API in mprof/mprof.h has
// default visibility. A change that instrumented code can notice needs a new
// MPROF_ABI_VERSION.

#ifndef MPROF_RT_SYS_ABI_WORDS_H
#define MPROF_RT_SYS_ABI_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "mprof/hooks.def"

// The entries lie in a section of their own. The unwinder recognizes their
// frames by this section and leaves them out of stacks.
#define MPROF_TEXT_SECTION __attribute__((section("mprof_text")))
#define MPROF_ENTRY                                                            \
  __attribute__((visibility("default"), noinline)) MPROF_TEXT_SECTION
#define MPROF_DATA __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// Bytes that this thread may still allocate before its next sample. The word is
// 0 in a new thread, so the thread's first allocation calls the runtime, which
// draws the first random distance. A call site compares the countdown with the
// size before it subtracts the size. If the countdown becomes negative, the
// site calls the runtime next. The countdown wraps around if the size is larger
// than any allocator can serve. Only the thread itself writes its countdown,
// with one exception: mprof_set_heap_rate stores 0 in the countdowns of other
// threads and waits until those threads see the 0.
extern MPROF_DATA __thread int64_t __mprof_heap_countdown
    __attribute__((tls_model("initial-exec")));

// Subtracts size bytes from the countdown, modulo 2^64, as an instrumented call
// site does before the allocation. Returns whether the site must call the
// runtime.
static inline int mprof_count_down(uint64_t size) {
  const uint64_t before = (uint64_t)__mprof_heap_countdown;
  __mprof_heap_countdown = (int64_t)(before - size);
  return before <= size;
}
// Undoes mprof_count_down for a request that will fail. An entry that does not
// call mprof_sample_hit must call this function, since the countdown may have
// wrapped around.
static inline void mprof_count_back(uint64_t size) {
  __mprof_heap_countdown = (int64_t)((uint64_t)__mprof_heap_countdown + size);
}

// hooks.def explains these words. A mask changes only once, to 0. The change is
// made under registry_lock, before the first block is counted that needs the
// new mask. Instrumented main stores its frame address in __mprof_main_frame.
extern MPROF_DATA uintptr_t __mprof_free_mask;
extern MPROF_DATA uintptr_t __mprof_delete_mask;
extern MPROF_DATA uintptr_t __mprof_custom_mask;
extern MPROF_DATA void *__mprof_main_frame;
// Frame address of the function that made this thread's outermost allocator
// call, and the return address of that frame; see nested_alloc.h. Only the
// thread itself uses the two words.
extern MPROF_DATA __thread uintptr_t __mprof_nested_frame
    __attribute__((tls_model("initial-exec")));
extern MPROF_DATA __thread uintptr_t __mprof_nested_return
    __attribute__((tls_model("initial-exec")));
// Both words are written under registry_lock. Call sites read them without the
// lock.
extern MPROF_DATA uint64_t __mprof_sync_kinds;
extern MPROF_DATA uint64_t __mprof_owned_mask;
// One word for each slot of the table of waiters. Each slot has a lock in
// waiters.c, which guards the slot's word. Call sites read the words without a
// lock.
#define MPROF_WAITER_SLOTS 1024u
extern MPROF_DATA uint32_t __mprof_waiters[MPROF_WAITER_SLOTS];
// Bit of a word in __mprof_waiters: a thread has begun to wait since waiting
// time was last charged for a lock of this slot.
#define MPROF_WAITER_CAME (1u << 31)
// Bit set in every word of __mprof_waiters while lock holds are recorded
// (holds.h). It makes call sites call the runtime for uncontended locks, too.
#define MPROF_WAITER_ANY (1u << 30)
// Returns the slot of an object. All objects in the same cache line share a
// slot.
static inline size_t mprof_waiter_slot(uintptr_t object) {
  return object >> 6 & (MPROF_WAITER_SLOTS - 1);
}

// Pointers through which call sites call the hooked functions; see beneath.h.
// mprof_next_find writes them before the program has threads.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern MPROF_DATA void *__mprof_next_##Symbol;
#include "mprof/hooks.def"

// Each instrumented object file refers to the symbol of the ABI version that it
// was compiled for. The linker therefore rejects object files of another
// version.
#define MPROF_ABI_NAME_(v) __mprof_abi_v##v
#define MPROF_ABI_NAME(v) MPROF_ABI_NAME_(v)
extern MPROF_DATA const char MPROF_ABI_NAME(MPROF_ABI_VERSION);

// Each instrumented object file refers to this symbol. If it is undefined, the
// linker or the loader prints its name, which tells the user what to do.
extern MPROF_DATA const char
    mprof_runtime_is_there __asm__(MPROF_MISSING_RUNTIME);

// Each instrumented object file that is compiled for executables refers to this
// symbol, because such code reads the words at fixed distances from the thread
// pointer and from itself. The linker therefore puts the words into the
// program, also if the rest of the runtime is in libmprof_rt.so.
extern MPROF_DATA const char __mprof_is_program;

#ifdef __cplusplus
}
#endif

#endif // MPROF_RT_SYS_ABI_WORDS_H
