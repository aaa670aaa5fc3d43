// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of functions that the program marks. An entry is a function of the
// runtime that instrumented code calls.
//
// Custom allocators are functions that the program marks with mprof_alloc,
// mprof_free or mprof_realloc, and allocators that call mprof_alloc_event or a
// similar function. The instrumented call site calls the program's function,
// and the entry only counts the event. A custom allocator chooses the addresses
// of its blocks, so an address does not tell whether its block is counted.
// Therefore, as soon as one block has been counted, every instrumented free
// calls the runtime.

#include "entry/entry_lock.h"
#include "heap/event.h"
#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "lock_wait/hooked.h"
#include "lock_wait/waiters.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/arch.h"
#include "sys/tls.h"

// Count the allocation of a block of size bytes, and the free of a block.
MPROF_ENTRY void __mprof_custom_alloc(void *ptr, size_t size);
MPROF_ENTRY void __mprof_custom_free(void *ptr);

// Count the allocation of a block in an arena, and the frees of all blocks of
// an arena. The inline functions of mprof/mprof.h call these two entries.
MPROF_ENTRY void __mprof_arena_alloc(const void *arena, void *ptr, size_t size);
MPROF_ENTRY void __mprof_arena_reset(const void *arena);
// Counts a block of an allocator from which other counted allocators take their
// memory. Blocks of those other allocators that lie inside this block stay
// counted.
MPROF_ENTRY void __mprof_custom_alloc_each(void *ptr, size_t size);
// Begins a reallocation of the block at ptr. Removes the block from the profile
// before the allocator can give the block's address to another thread. Returns
// a token for the two functions below.
MPROF_ENTRY uint64_t __mprof_custom_realloc_begin(void *ptr);
// Records the result of a reallocation.
// token: the result of __mprof_custom_realloc_begin.
// new_ptr: if NULL and size is 0, the block at old_ptr was freed. If NULL and
//   size is not 0, the reallocation has failed, and the block remains.
// countdown: the thread's countdown after the call site has subtracted size.
// __mprof_custom_realloc_end_each is for blocks that may contain other counted
// blocks.
MPROF_ENTRY void __mprof_custom_realloc_end(uint64_t token, void *old_ptr,
                                            void *new_ptr, size_t size,
                                            int64_t countdown);
MPROF_ENTRY void __mprof_custom_realloc_end_each(uint64_t token, void *old_ptr,
                                                 void *new_ptr, size_t size,
                                                 int64_t countdown);

static void count(const struct mprof_alloc *a, void *ptr,
                  struct mprof_alloc_owner place) {
  if (!ptr)
    return;
  // Set the mask to 0, because instrumented code calls the runtime for a free
  // of ptr only if ptr & mask is 0. Another thread can free this block only
  // after this thread has published the block's address. By then, the other
  // thread also sees that the mask is 0.
  __atomic_store_n(&__mprof_custom_mask, 0, __ATOMIC_RELEASE);
  mprof_event_custom_alloc(a, ptr, &place);
}

static const struct mprof_alloc_owner anywhere, outer = {.is_outer = true};
static struct mprof_alloc_owner in(const void *arena) {
  return (struct mprof_alloc_owner){.arena = (uintptr_t)arena};
}

MPROF_ENTRY void __mprof_custom_alloc(void *ptr, size_t size) {
  struct mprof_alloc a;
  if (MPROF_SAMPLE_ALLOC(&a, size, false))
    count(&a, ptr, anywhere);
}

MPROF_ENTRY void __mprof_custom_alloc_each(void *ptr, size_t size) {
  struct mprof_alloc a;
  if (MPROF_SAMPLE_ALLOC(&a, size, false))
    count(&a, ptr, outer);
}

MPROF_ENTRY void __mprof_arena_alloc(const void *arena, void *ptr,
                                     size_t size) {
  struct mprof_alloc a;
  if (MPROF_SAMPLE_ALLOC(&a, size, false))
    count(&a, ptr, in(arena));
}

MPROF_ENTRY void __mprof_custom_free(void *ptr) {
  if (ptr)
    mprof_event_freed(mprof_event_custom_release(ptr));
}

MPROF_ENTRY void __mprof_arena_reset(const void *arena) {
  if (arena)
    mprof_event_arena_reset(arena);
}

// Returns a token, which the call site passes to __mprof_custom_realloc_end.
// The lower half of the token is the handle of the block's cell. Bit 33 of
// the token is the field is_last of struct mprof_released.
MPROF_ENTRY uint64_t __mprof_custom_realloc_begin(void *ptr) {
  struct mprof_released r = {.cell = 0};
  if (ptr)
    r = mprof_event_custom_release(ptr);
  // If the allocator throws, __mprof_custom_realloc_end is not called, and the
  // countdown could stay below 0. Instrumented call sites would read such a
  // countdown as a large unsigned number.
  if (__mprof_heap_countdown < 0)
    __mprof_heap_countdown = 0;
  return r.cell | (uint64_t)r.is_last << 33;
}

static void realloc_ended(uint64_t token, void *old_ptr, void *new_ptr,
                          size_t size, int64_t countdown) {
  struct mprof_released r = {.cell = (uint32_t)token,
                             .is_last = token >> 33 & 1};
  int64_t before = (int64_t)((uint64_t)countdown + size);
  if (!new_ptr && size != 0)
    mprof_event_custom_kept(r, old_ptr);
  else
    mprof_event_resized(r, old_ptr, new_ptr, size, before);
}

static bool ran_out(int64_t countdown, size_t size) {
  return countdown <= 0 || size > PTRDIFF_MAX;
}

MPROF_ENTRY void __mprof_custom_realloc_end(uint64_t token, void *old_ptr,
                                            void *new_ptr, size_t size,
                                            int64_t countdown) {
  struct mprof_alloc a;
  realloc_ended(token, old_ptr, new_ptr, size, countdown);
  if (ran_out(countdown, size) && MPROF_SAMPLE_ALLOC(&a, size, false))
    count(&a, new_ptr, anywhere);
}

MPROF_ENTRY void __mprof_custom_realloc_end_each(uint64_t token, void *old_ptr,
                                                 void *new_ptr, size_t size,
                                                 int64_t countdown) {
  struct mprof_alloc a;
  realloc_ended(token, old_ptr, new_ptr, size, countdown);
  if (ran_out(countdown, size) && MPROF_SAMPLE_ALLOC(&a, size, false))
    count(&a, new_ptr, outer);
}

// --- functions for languages that cannot use the header ---

static bool may_be_counted(const void *ptr) {
  return ((uintptr_t)ptr &
          __atomic_load_n(&__mprof_custom_mask, __ATOMIC_RELAXED)) == 0;
}

MPROF_PUBLIC void mprof_alloc_event(void *ptr, size_t size) {
  struct mprof_alloc a;
  if (mprof_count_down(size) && MPROF_SAMPLE_ALLOC(&a, size, false))
    count(&a, ptr, anywhere);
}

MPROF_PUBLIC void mprof_free_event(void *ptr) {
  if (may_be_counted(ptr))
    __mprof_custom_free(ptr);
}

MPROF_PUBLIC void mprof_arena_alloc_event(const void *arena, void *ptr,
                                          size_t size) {
  struct mprof_alloc a;
  if (mprof_count_down(size) && MPROF_SAMPLE_ALLOC(&a, size, false))
    count(&a, ptr, in(arena));
}

MPROF_PUBLIC void mprof_arena_reset(const void *arena) {
  if (may_be_counted(arena))
    __mprof_arena_reset(arena);
}

// --- locks and blocking calls ---

// The program marks them with mprof_lock, mprof_unlock and mprof_blocking. A
// call site of a marked function calls a begin entry, then the marked function,
// then an end entry. Both entries use the same memory in the frame of the
// caller.
//
// The runtime cannot try to take such a lock, because it knows no try function
// of the lock. So while waits for these locks are recorded, the table of
// waiters (waiters.h) also records which of these locks are held. A thread
// counts as waiting if the lock is held when the thread calls the lock
// function.

// notes: MPROF_USER_WORDS words of memory in the caller's frame. The runtime
//   uses this memory from the begin entry to the end entry.
// f: the marked function.
// lock: the address that identifies the lock.
MPROF_ENTRY void __mprof_user_lock_begin(void *notes, void *f, void *lock);
MPROF_ENTRY void __mprof_user_lock_end(void *notes);
MPROF_ENTRY void __mprof_user_unlock_begin(void *notes, void *f, void *lock);
MPROF_ENTRY void __mprof_user_unlock_end(void *notes);
MPROF_ENTRY void __mprof_user_call_begin(void *notes, void *f);
MPROF_ENTRY void __mprof_user_call_end(void *notes);

struct user_release {
  struct mprof_release release;
  uintptr_t op;
};
#define FITS(type)                                                             \
  _Static_assert(sizeof(type) <= MPROF_USER_WORDS * sizeof(uint64_t),          \
                 "the type must fit into MPROF_USER_WORDS words of 64 bits")
FITS(struct mprof_wait);
FITS(struct user_release);

// Adds the thread to the count of threads that hold or await the lock. Returns
// whether another thread already holds or awaits the lock.
static bool comes_second(uintptr_t lock) {
  if (!mprof_process_ready() || !mprof_guard_enter())
    return false;
  bool is_held = mprof_waiters_hold(lock);
  mprof_guard_leave();
  return is_held;
}

// Records that the thread runs a marked function, that is, a function with
// mprof_lock, mprof_unlock or mprof_blocking. The rewritten code calls a begin
// entry of the runtime before the marked function and an end entry after it.
// Between the two, waits in functions that the marked function calls are not
// recorded separately. `notes` points to memory in the frame of the marked
// function's caller. Therefore this address identifies that frame.
static void enter_user(const void *notes) {
  mprof_tls.user_frame = (uintptr_t)notes;
}
static void leave_user(void) { mprof_tls.user_frame = 0; }

MPROF_ENTRY void __mprof_user_lock_begin(void *notes, void *f, void *lock) {
  struct mprof_wait *w = notes;
  *w = (struct mprof_wait){.op = (uintptr_t)f, .object = (uintptr_t)lock};
  if (mprof_order_on)
    mprof_order_awaited((uintptr_t)lock, MPROF_KIND_user, MPROF_TAKES_OPAQUE,
                        (uintptr_t)f, ENTRY_FRAME);
  if (comes_second((uintptr_t)lock))
    mprof_wait_begin(w, MPROF_KIND_user, (uintptr_t)f, ENTRY_FRAME,
                     (uintptr_t)lock);
  enter_user(notes);
}

MPROF_ENTRY void __mprof_user_lock_end(void *notes) {
  struct mprof_wait *w = notes;
  leave_user();
  mprof_wait_end(w, MPROF_GOT);
  mprof_lock_taken(w->object, MPROF_KIND_user, MPROF_TAKES_OPAQUE, w->op,
                   ENTRY_FRAME);
}

MPROF_ENTRY void __mprof_user_unlock_begin(void *notes, void *f, void *lock) {
  struct user_release *n = notes;
  n->op = (uintptr_t)f;
  mprof_release_begin(&n->release, (uintptr_t)lock, MPROF_WAKES_NEXT_OWNER,
                      n->op, ENTRY_FRAME);
  if (mprof_process_ready() && mprof_guard_enter()) {
    mprof_waiters_let_go((uintptr_t)lock);
    mprof_unlock_drops(lock, MPROF_KIND_user);
    mprof_guard_leave();
  }
  enter_user(notes);
}

MPROF_ENTRY void __mprof_user_unlock_end(void *notes) {
  struct user_release *n = notes;
  leave_user();
  mprof_release_end(&n->release, true, MPROF_KIND_user, n->op, ENTRY_FRAME);
}

MPROF_ENTRY void __mprof_user_call_begin(void *notes, void *f) {
  // Zeros mean that the values of the registers during the wait are unknown.
  ((struct mprof_wait *)notes)->saved = (struct mprof_saved){0};
  mprof_call_begin_saved(notes, MPROF_KIND_call, (uintptr_t)f, ENTRY_FRAME);
  enter_user(notes);
}

MPROF_ENTRY void __mprof_user_call_end(void *notes) {
  struct mprof_wait *w = notes;
  leave_user();
  w->frame = ENTRY_FRAME; // the frame of the begin entry no longer exists
  mprof_wait_end(w, MPROF_TIMEOUT);
}
