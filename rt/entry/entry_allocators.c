// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of libgc, Boehm's garbage collector, and of jemalloc: the functions
// __mprof_f that instrumented code calls in place of f.
//
// The entries of libgc differ from those of the C heap in two points. First,
// they do not place objects on page boundaries, because the program itself
// frees hardly any object. Second, they record counted objects in the table of
// gc.c, not in the live map. The entries have not set the recursion guard and
// hold no lock when they call the collector, because the collector may run the
// program's finalizers.

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "heap/alloc_log.h"
#include "heap/event.h"
#include "heap/gc.h"
#include "heap/observers.h"
#include "options/flags.h"
#include "sys/abi_words.h"
#include "sys/libc.h"
#include "sys/lock.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <string.h>

// The references are weak because every program has these entries, but few
// programs are linked with libgc or jemalloc.
#define WEAK __attribute__((weak))

// --- libgc ---

extern void *GC_malloc(size_t) WEAK;
extern void *GC_malloc_atomic(size_t) WEAK;
extern void *GC_malloc_uncollectable(size_t) WEAK;
extern void *GC_malloc_atomic_uncollectable(size_t) WEAK;
extern void *GC_malloc_ignore_off_page(size_t) WEAK;
extern void *GC_malloc_atomic_ignore_off_page(size_t) WEAK;
extern void *GC_malloc_explicitly_typed(size_t, size_t) WEAK;
extern void *GC_malloc_explicitly_typed_ignore_off_page(size_t, size_t) WEAK;
extern void *GC_calloc_explicitly_typed(size_t, size_t, size_t) WEAK;
extern void *GC_memalign(size_t, size_t) WEAK;
extern int GC_posix_memalign(void **, size_t, size_t) WEAK;
extern char *GC_strdup(const char *) WEAK;
extern char *GC_strndup(const char *, size_t) WEAK;
extern void *GC_realloc(void *, size_t) WEAK;
extern void GC_free(void *) WEAK;

#define GC_CALL(f, Args) CALL_REAL(GC_malloc, f, Args)

// Sets the thread's guard, which marks the thread as inside the runtime, takes
// gc_lock, and returns true. Returns false, without the guard and the lock, in
// two cases: the caller is a signal handler that has interrupted the runtime,
// or the collector is running in this thread. Inlined, because the guard
// belongs to the caller's frame.
__attribute__((always_inline)) static inline bool lock_objects(void) {
  if (mprof_gc_is_collecting() || !mprof_guard_enter()) {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
    return false;
  }
  mprof_lock_acquire(&mprof_gc_lock);
  return true;
}

static void unlock_objects(void) {
  mprof_lock_release(&mprof_gc_lock);
  mprof_guard_leave();
}

// Returns the bucket for the stack that begins with the entry's caller. (Go:
// stkbucket)
static struct mprof_bucket *bucket_of(const struct mprof_alloc *a) {
  struct mprof_thread *t = mprof_thread_self(true);
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_MEM,
                                 .labels = mprof_tls.labels,
                                 .size = a->size,
                                 .rate = a->rate};
  return t ? mprof_bucket_at(t, &key, 0, a->frame) : NULL;
}

// Adds the object at ptr to the table, and counts it in bucket b. If there is
// no memory for the table, the object is not counted.
static void enter(struct mprof_bucket *b, void *ptr) {
  uint32_t stale;
  struct mprof_cell *c = mprof_cell_here(b);
  mprof_lock_acquire(&mprof_gc_lock);
  bool ok = mprof_gc_put((uintptr_t)ptr, mprof_persistent_handle(c), &stale);
  mprof_lock_release(&mprof_gc_lock);
  if (mprof_is_observed())
    mprof_observe_alloc(ok ? b : NULL, ptr, MPROF_LOG_GC, false);
  if (!ok)
    return;
  if (mprof_unlikely(stale != 0)) {
    mprof_event_freed((struct mprof_released){.cell = stale});
    mprof_stat_add(MPROF_STAT_stale, 1);
  }
  mprof_count_alloc(c, mprof_cycle_explicit_index());
}

// Counts the sampled object at ptr. (Go: mProf_Malloc)
static MPROF_NOINLINE void count(const struct mprof_alloc *a, void *ptr,
                                 void *caller) {
  if (!ptr || mprof_flags.stack_depth == 0)
    return;
  if (!mprof_gc_is_collecting())
    mprof_gc_listen(caller);
  if (mprof_gc_is_collecting() || !mprof_guard_enter()) {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
    return;
  }
  struct mprof_bucket *b = bucket_of(a);
  if (b)
    enter(b, ptr);
  mprof_guard_leave();
}

#define CALLER __builtin_return_address(0)

// Defines the entry of f, which allocates an object of Size bytes.
#define ALLOCATOR(f, Params, Args, Size)                                       \
  MPROF_ENTRY void *__mprof_##f Params {                                       \
    struct mprof_alloc a;                                                      \
    const bool is_counted = MPROF_SAMPLE_ALLOC(&a, Size, false);               \
    void *ptr = GC_CALL(f, Args);                                              \
    if (is_counted)                                                            \
      count(&a, ptr, CALLER);                                                  \
    return ptr;                                                                \
  }

ALLOCATOR(GC_malloc, (size_t size), (size), size)
ALLOCATOR(GC_malloc_atomic, (size_t size), (size), size)
ALLOCATOR(GC_malloc_uncollectable, (size_t size), (size), size)
ALLOCATOR(GC_malloc_atomic_uncollectable, (size_t size), (size), size)
ALLOCATOR(GC_malloc_ignore_off_page, (size_t size), (size), size)
ALLOCATOR(GC_malloc_atomic_ignore_off_page, (size_t size), (size), size)
ALLOCATOR(GC_malloc_explicitly_typed, (size_t size, size_t d), (size, d), size)
ALLOCATOR(GC_malloc_explicitly_typed_ignore_off_page, (size_t size, size_t d),
          (size, d), size)
ALLOCATOR(GC_memalign, (size_t align, size_t size), (align, size), size)

// If n * each overflows, the allocation fails. Before that, the call site has
// subtracted the wrapped product from the countdown. So the entry adds the
// wrapped product back.
MPROF_ENTRY void *__mprof_GC_calloc_explicitly_typed(size_t n, size_t each,
                                                     size_t d) {
  struct mprof_alloc a;
  size_t size;
  if (__builtin_mul_overflow(n, each, &size)) {
    mprof_count_back(size);
    return GC_CALL(GC_calloc_explicitly_typed, (n, each, d));
  }
  const bool is_counted = MPROF_SAMPLE_ALLOC(&a, size, false);
  void *ptr = GC_CALL(GC_calloc_explicitly_typed, (n, each, d));
  if (is_counted)
    count(&a, ptr, CALLER);
  return ptr;
}

MPROF_ENTRY int __mprof_GC_posix_memalign(void **out, size_t align,
                                          size_t size) {
  struct mprof_alloc a;
  bool is_counted = MPROF_SAMPLE_ALLOC(&a, size, false);
  int error = GC_CALL(GC_posix_memalign, (out, align, size));
  if (is_counted && error == 0)
    count(&a, *out, CALLER);
  return error;
}

// Call sites of GC_strdup, GC_strndup and GC_realloc do not subtract the size
// from the countdown. So the entries of these functions subtract it.

MPROF_ENTRY char *__mprof_GC_strdup(const char *s) {
  struct mprof_alloc a;
  const size_t size = s ? strlen(s) + 1 : 0;
  mprof_count_down(size);
  const bool is_counted = MPROF_SAMPLE_ALLOC(&a, size, false);
  char *copy = GC_CALL(GC_strdup, (s));
  if (is_counted)
    count(&a, copy, CALLER);
  return copy;
}

MPROF_ENTRY char *__mprof_GC_strndup(const char *s, size_t max) {
  struct mprof_alloc a;
  const size_t size = strnlen(s, max) + 1;
  mprof_count_down(size);
  const bool is_counted = MPROF_SAMPLE_ALLOC(&a, size, false);
  char *copy = GC_CALL(GC_strndup, (s, max));
  if (is_counted)
    count(&a, copy, CALLER);
  return copy;
}

// Removes the object at ptr from the table before libgc can reuse its address.
static struct mprof_released release(void *ptr) {
  struct mprof_released r = {.cell = 0};
  if (!ptr || mprof_gc_count() == 0 || !lock_objects())
    return r;
  r.cell = mprof_gc_take((uintptr_t)ptr);
  unlock_objects();
  if (mprof_is_observed() && r.cell)
    mprof_observe_release(&r, ptr, MPROF_LOG_GC);
  return r;
}

// Adds the object at ptr to the table again, because its reallocation has
// failed. The table may have no room, if other threads have added objects since
// `release` removed this object. In this case counts the object as freed,
// because the runtime does not see the death of an object that is not in the
// table.
static void keep(struct mprof_released r, void *ptr) {
  uint32_t stale;
  if (!r.cell || !lock_objects())
    return;
  const bool is_known = mprof_gc_put((uintptr_t)ptr, r.cell, &stale);
  if (is_known && mprof_is_observed())
    mprof_observe_kept(&r, ptr, MPROF_LOG_GC);
  unlock_objects();
  if (!is_known)
    mprof_event_freed(r);
}

MPROF_ENTRY void *__mprof_GC_realloc(void *old, size_t size) {
  struct mprof_alloc a;
  int64_t before = __mprof_heap_countdown;
  mprof_count_down(size);
  bool is_counted = MPROF_SAMPLE_ALLOC(&a, size, false);
  struct mprof_released r = release(old);
  void *ptr = GC_CALL(GC_realloc, (old, size));
  if (!ptr && size != 0)
    keep(r, old);
  else
    mprof_event_resized(r, old, ptr, size, before);
  if (is_counted)
    count(&a, ptr, CALLER);
  return ptr;
}

// Counts the free at index C+2 (modulo 3) of the bucket, where C is the current
// cycle. All frees that the program itself calls are counted at this index
// (counts.h). (Go: mProf_Free)
MPROF_ENTRY void __mprof_GC_free(void *ptr) {
  mprof_event_freed(release(ptr));
  GC_CALL(GC_free, (ptr));
}

MPROF_ENTRY void __mprof_GC_set_on_collection_event(mprof_gc_handler handler) {
  mprof_gc_set_handler(handler, CALLER);
}

MPROF_ENTRY mprof_gc_handler __mprof_GC_get_on_collection_event(void) {
  return mprof_gc_get_handler(CALLER);
}

// --- jemalloc ---

// The functions that only jemalloc has. jemalloc has one heap for these
// functions and for malloc. So sdallocx, for example, may free a block of
// malloc.
//
// jemalloc trusts the size that the program passes to sdallocx. But a counted
// block fills whole pages, whatever size was requested. So the entry of
// sdallocx frees a block on a page boundary by dallocx, which takes no size.

extern void *mallocx(size_t size, int flags) WEAK;
extern void *rallocx(void *old, size_t size, int flags) WEAK;
extern void dallocx(void *ptr, int flags) WEAK;
extern void sdallocx(void *ptr, size_t size, int flags) WEAK;

#define CALL(f, Args) CALL_REAL(mallocx, f, Args)

// The lowest 6 bits of flags hold log2 of the alignment (MALLOCX_LG_ALIGN).
#define LG_ALIGN_MASK 63
#define LG_PAGE 12
_Static_assert(1u << LG_PAGE == MPROF_PAGE, "");

// Returns flags. If the block must be placed on a page boundary, the alignment
// in the result is at least a page.
static int placed(const struct mprof_alloc *a, int flags) {
  if (!a->must_place || (flags & LG_ALIGN_MASK) >= LG_PAGE)
    return flags;
  return (flags & ~LG_ALIGN_MASK) | LG_PAGE;
}

MPROF_ENTRY void *__mprof_mallocx(size_t size, int flags) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return CALL(mallocx, (size, flags));
  return mprof_event_alloc(&a, CALL(mallocx, (size, placed(&a, flags))));
}

MPROF_ENTRY void *__mprof_rallocx(void *old, size_t size, int flags) {
  struct mprof_alloc a;
  bool is_counted = MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c());
  struct mprof_released r = mprof_event_release(old);
  void *ptr =
      CALL(rallocx, (old, size, is_counted ? placed(&a, flags) : flags));
  if (!ptr) {
    mprof_event_kept(r, old);
    return NULL;
  }
  mprof_event_freed(r);
  return is_counted ? mprof_event_alloc(&a, ptr) : ptr;
}

static void count_free(void *ptr) {
  if (ptr)
    mprof_event_freed(mprof_event_release(ptr));
}

MPROF_ENTRY void __mprof_dallocx(void *ptr, int flags) {
  count_free(ptr);
  CALL(dallocx, (ptr, flags));
}

MPROF_ENTRY void __mprof_sdallocx(void *ptr, size_t size, int flags) {
  count_free(ptr);
  if (MPROF_IS_ON_PAGE(ptr))
    CALL(dallocx, (ptr, flags));
  else
    CALL(sdallocx, (ptr, size, flags));
}
