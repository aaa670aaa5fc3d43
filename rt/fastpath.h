// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What rewritten code sees of the runtime: the data words of the inlined fast
// path and the entries that hooks.def names. Nothing else of the runtime has
// default visibility but the public API.

#ifndef MPROF_RT_FASTPATH_H
#define MPROF_RT_FASTPATH_H

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
// See nested.h. Only its own thread uses it.
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

// The functions that sites call; see next.h. Written by mprof_next_find before
// the program has threads.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern MPROF_DATA void *__mprof_next_##Symbol;
#include "mprof/hooks.def"

// Objects refer to the version they were compiled for.
#define MPROF_ABI_NAME_(v) __mprof_abi_v##v
#define MPROF_ABI_NAME(v) MPROF_ABI_NAME_(v)
extern MPROF_DATA const char MPROF_ABI_NAME(MPROF_ABI_VERSION);

MPROF_ENTRY void __mprof_custom_alloc(void *ptr, size_t size);
MPROF_ENTRY void __mprof_custom_free(void *ptr);
// What the inline functions of mprof/mprof.h call.
MPROF_ENTRY void __mprof_arena_alloc(const void *arena, void *ptr, size_t size);
MPROF_ENTRY void __mprof_arena_reset(const void *arena);
// The same where blocks of allocators that use one another are all counted:
// what the address already has lies within this block.
MPROF_ENTRY void __mprof_custom_alloc_each(void *ptr, size_t size);
// Takes the block out of the profile before the allocator may hand its address
// to another thread; the result names it for __mprof_custom_realloc_end.
MPROF_ENTRY uint64_t __mprof_custom_realloc_begin(void *ptr);
MPROF_ENTRY void __mprof_custom_realloc_end(uint64_t token, void *old_ptr,
                                            void *new_ptr, size_t size,
                                            int64_t countdown);
MPROF_ENTRY void __mprof_custom_realloc_end_each(uint64_t token, void *old_ptr,
                                                 void *new_ptr, size_t size,
                                                 int64_t countdown);

// notes: MPROF_USER_WORDS words of the caller's frame, from begin to end; f:
// the program's function.
MPROF_ENTRY void __mprof_user_lock_begin(void *notes, void *f, void *lock);
MPROF_ENTRY void __mprof_user_lock_end(void *notes);
MPROF_ENTRY void __mprof_user_unlock_begin(void *notes, void *f, void *lock);
MPROF_ENTRY void __mprof_user_unlock_end(void *notes);
MPROF_ENTRY void __mprof_user_call_begin(void *notes, void *f);
MPROF_ENTRY void __mprof_user_call_end(void *notes);

// Names of a module's mprof_wrapper functions. The pass emits one such node
// for each translation unit that defines any, registered by a constructor and
// unregistered by a destructor. Guarded by the registry lock.
struct __mprof_wrappers {
  struct __mprof_wrappers *next;
  const char *const *names; // demangled, without parameters
  size_t count;
};
MPROF_ENTRY void __mprof_register_wrappers(struct __mprof_wrappers *node);
MPROF_ENTRY void __mprof_unregister_wrappers(struct __mprof_wrappers *node);

// A hooked function of the heap in code of a shared library, whose sites call
// what word and entry point to: at first what binds them. Atomic; all who write
// a field write the same.
struct __mprof_module_hook {
  void *const *word;
  void *entry;
  void *lazy;                  // what word points to before it is bound
  void *const *program_s_word; // &__mprof_next_f
  void *program_s_entry;       // __mprof_f
  // f as the code's own reference has it, and what stands in for the entry
  // where that is not the program's.
  void *own;
  void *own_entry;
};
MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *hook);
// A block of size bytes is not to be counted. Where the countdown that its site
// took down has run out, a sample is lost with it, as it must be: what the next
// sites allocate would stand for this block else.
MPROF_ENTRY void __mprof_drop_sample(size_t size);

// Called by the last destructor of a shared library, in which inside points.
MPROF_ENTRY void __mprof_module_unloads(const void *inside);

#ifdef __cplusplus
}
#endif

#endif // MPROF_RT_FASTPATH_H
