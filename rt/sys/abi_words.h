// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface between the runtime and instrumented code. It consists of data
// words and of entries. The inlined fast path at a call site reads and writes
// the data words. The entries are functions of the runtime that instrumented
// code calls in place of the hooked functions (hooks.def). Apart from the words
// and entries, only the public API in mprof/mprof.h has default visibility. A
// change that affects instrumented code needs a new MPROF_ABI_VERSION.

#ifndef MPROF_RT_SYS_ABI_WORDS_H
#define MPROF_RT_SYS_ABI_WORDS_H

#ifndef __cplusplus
#include "sys/arch.h"
#endif

#include <stddef.h>
#include <stdint.h>

#include "mprof/hooks.def"

// Attributes of an entry, that is, of a function that instrumented code calls
// in place of a hooked function. The entries have a section of their own. The
// unwinder recognizes their frames by this section and leaves these frames out
// of stacks.
#define MPROF_TEXT_SECTION __attribute__((section("mprof_text")))
#define MPROF_ENTRY                                                            \
  __attribute__((visibility("default"), noinline)) MPROF_TEXT_SECTION
// Attributes of an entry whose caller need not align the stack
// (RewriteHooked.cpp, callWithoutFrame).
#define MPROF_UNALIGNED_ENTRY MPROF_ENTRY MPROF_ALIGNS_STACK
#define MPROF_DATA __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// Number of bytes that this thread may still allocate before its next sample.
// The countdown is 0 in a new thread, so the thread's first allocation calls
// the runtime, which draws a random countdown. A call site subtracts the size
// of each allocation from the countdown. The site calls the runtime if the
// countdown before the subtraction was not greater than the size. If the size
// is larger than any allocator can serve, the countdown wraps around. Only the
// thread itself writes its countdown, with one exception. mprof_set_heap_rate
// stores 0 in the countdowns of other threads, and waits until no subtraction
// that was in progress can overwrite the 0.
extern MPROF_DATA __thread int64_t __mprof_heap_countdown
    __attribute__((tls_model("initial-exec")));

// Subtracts size from the countdown, modulo 2^64, as an instrumented call site
// does before an allocation. Returns whether the caller must call the runtime,
// because a sample may be due.
static inline int mprof_count_down(uint64_t size) {
  const uint64_t before = (uint64_t)__mprof_heap_countdown;
  __mprof_heap_countdown = (int64_t)(before - size);
  return before <= size;
}
// Adds `size` to the countdown, from which the call site has subtracted `size`
// for a request that will fail. Call this function in an entry that returns
// without calling mprof_sample_hit. If the subtraction has made the countdown
// wrap around, only this function or mprof_sample_hit corrects the countdown.
static inline void mprof_count_back(uint64_t size) {
  __mprof_heap_countdown = (int64_t)((uint64_t)__mprof_heap_countdown + size);
}

// hooks.def explains these words. A free of ptr that tests a mask calls the
// runtime only if (ptr & mask) == 0, so with mask 0 each of them does. A mask
// changes only once, to 0. The runtime makes this change under registry_lock,
// before it counts the first block whose address has a bit of the old mask.
// Instrumented main stores its frame address in __mprof_main_frame.
extern MPROF_DATA uintptr_t __mprof_free_mask;
extern MPROF_DATA uintptr_t __mprof_delete_mask;
extern MPROF_DATA uintptr_t __mprof_custom_mask;
extern MPROF_DATA void *__mprof_main_frame;
// These words serve to detect nested allocations (sampling.c). They have the
// frame address and the return address of the function that made this thread's
// outermost allocator call. Only the thread itself uses the words.
extern MPROF_DATA __thread uintptr_t __mprof_nested_frame
    __attribute__((tls_model("initial-exec")));
extern MPROF_DATA __thread uintptr_t __mprof_nested_return
    __attribute__((tls_model("initial-exec")));
// hooks.def explains this word. It is written under registry_lock, and read
// without the lock.
extern MPROF_DATA uint64_t __mprof_sync_kinds;
// Table with one word for each slot of the table of waiters (waiters.c). The
// slot of a program's lock is mprof_waiter_slot(its address). A call site calls
// the runtime for a program's lock only if the word of this slot is not 0. The
// runtime changes the word only while it holds its own lock of the slot. Call
// sites read the word without that lock.
extern MPROF_DATA uint32_t __mprof_waiters[MPROF_WAITER_SLOTS];
// Bit of a word in __mprof_waiters. It is set if a thread has begun to wait for
// a lock of this slot since waiting time was last attributed to an unlock.
#define MPROF_WAITER_CAME (1u << 31)
// Bit that is set in every word of __mprof_waiters while the runtime records
// which locks each thread holds (holds.h, lock_order.h). The bit makes call
// sites call the runtime for uncontended locks, too.
#define MPROF_WAITER_ANY (1u << 30)
// Bit that is set while acquisitions of the locks of this slot are noted,
// because one of them was contended (lock_order.h).
#define MPROF_WAITER_NOTES (1u << 29)
#define MPROF_WAITER_FLAGS (MPROF_WAITER_ANY | MPROF_WAITER_NOTES)
// Returns the slot in __mprof_waiters of the lock or other object at address
// `object` (hooks.def).
static inline size_t mprof_waiter_slot(uintptr_t object) {
  return object >> MPROF_WAITER_SHIFT & (MPROF_WAITER_SLOTS - 1);
}

// Pointers through which call sites call the hooked functions. If the runtime
// intercepts a function, its pointer has the address of the definition that the
// interceptor calls (beneath.h). mprof_next_find writes the pointers before the
// program has threads.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern MPROF_DATA void *__mprof_next_##Symbol;
#include "mprof/hooks.def"
// NEXT(f)(...) calls the function f of the allocator beneath the interceptors.
// The function's address is in the word __mprof_next_f. f must be declared.
#define NEXT(f) ((__typeof__(&f))__mprof_next_##f)
// Pointers through which call sites copy a string that they have measured;
// hooks.def explains them. They are written like the pointers above.
extern MPROF_DATA void *__mprof_sized_strdup;
extern MPROF_DATA void *__mprof_sized_strndup;
extern MPROF_DATA void *__mprof_copy_malloc;
// Pointer through which sites free a block off a page boundary. It changes
// together with __mprof_free_mask, to __mprof_free.
extern MPROF_DATA void *__mprof_free_off_page;

// Each instrumented object file refers to a symbol whose name contains the ABI
// version for which the file was compiled. The linker rejects object files of
// another version, because the runtime does not define their symbol.
#define MPROF_ABI_NAME_(v) __mprof_abi_v##v
#define MPROF_ABI_NAME(v) MPROF_ABI_NAME_(v)
extern MPROF_DATA const char MPROF_ABI_NAME(MPROF_ABI_VERSION);

// Each instrumented object file refers to this symbol. If it is undefined, the
// linker or the loader prints its name, which tells the user what to do.
extern MPROF_DATA const char
    mprof_runtime_is_there __asm__(MPROF_MISSING_RUNTIME);

// Each instrumented object file that is compiled for executables refers to this
// symbol, because such code reads the words at fixed distances from the thread
// pointer and from itself. No library exports the symbol, so the linker puts
// the words into the program, also if the rest of the runtime is in
// libmprof_rt.so.
extern __attribute__((visibility("hidden"))) const char __mprof_is_program;

#ifdef __cplusplus
}
#endif

#endif // MPROF_RT_SYS_ABI_WORDS_H
