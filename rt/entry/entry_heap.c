// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the C heap. The entry of a function f is the runtime's function
// __mprof_f. An instrumented call site calls the entry in place of f in two
// cases: the thread's sampling countdown has run out, or the block that the
// call releases may be counted. The entry calls f of the program's allocator
// and counts the block.
//
// If the sampling rate is at least MPROF_MIN_PLACED_RATE, every counted block
// is placed on a page boundary. So a block that is not on a page boundary is
// not counted. A call site frees such a block without a call of the runtime.

#define MPROF_ALLOCATOR_FAMILY MPROF_FAMILY_C

#include "entry/alloc_entry.h"
#include "heap/beneath.h"
#include "heap/event.h"
#include "heap/page_placement.h"
#include "heap/placed_cache.h"
#include "heap/sample.h"
#include "sys/abi_words.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

// Weak, because not every libc and allocator has these functions. A program
// that calls a missing function does not link, so the entry of a missing
// function is never called. Strong references would pull libc's allocator into
// a static program that has its own allocator.
#pragma weak reallocarray
#pragma weak aligned_alloc
#pragma weak posix_memalign
#pragma weak memalign
#pragma weak valloc
#pragma weak pvalloc
#pragma weak malloc_usable_size

// Returns a block on a page boundary. Returns NULL if the block need not be
// placed on one, or cannot be placed.
// *is_fresh: true: the allocator has just allocated the block, so its memory
//   may be known to be zero. false: the block comes from the cache of freed
//   blocks (placed_cache.h), or the result is NULL.
static void *take_block(const struct mprof_alloc *a, size_t align,
                        bool *is_fresh) {
  void *p = NULL;
  *is_fresh = false;
  if (!a->must_place || (align & (align - 1)) != 0)
    return NULL;
  if (align <= MPROF_PAGE)
    return mprof_placed_get(a->size, is_fresh);
  int saved = errno;
  if (NEXT(posix_memalign)(&p, align, a->size ? a->size : 1) != 0)
    p = NULL;
  *is_fresh = p != NULL;
  errno = saved;
  return p;
}

static void *placed_block(const struct mprof_alloc *a, size_t align) {
  bool is_fresh;
  return take_block(a, align, &is_fresh);
}

MPROF_UNALIGNED_ENTRY void *__mprof_malloc(size_t size) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(malloc)(size);
  void *p = placed_block(&a, 1);
  return mprof_alloc_done(&a, p ? p : NEXT(malloc)(size));
}

MPROF_UNALIGNED_ENTRY void *__mprof_calloc(size_t count, size_t each) {
  struct mprof_alloc a;
  size_t size;
  if (__builtin_mul_overflow(count, each, &size)) {
    mprof_count_back(size);
    return NEXT(calloc)(count, each);
  }
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(calloc)(count, each);
  bool is_fresh;
  void *p = take_block(&a, 1, &is_fresh);
  if (!p)
    p = NEXT(calloc)(count, each);
  else if (!is_fresh || !mprof_place_is_zeroed(p, size))
    memset(p, 0, size);
  return mprof_alloc_done(&a, p);
}

// Copies len bytes to memory that contains only zeros. Does not write pages of
// zeros, so that these pages do not become resident in the copy. The reads do
// not make pages of the source resident either. If a page was never written,
// the kernel lets the process read its shared page of zeros instead.
static void copy_pages(char *to, const char *from, size_t len) {
  while (len > 0) {
    size_t n = len < MPROF_PAGE ? len : MPROF_PAGE;
    // All bytes are zero if the first is, and each is equal to the next.
    if (*from != 0 || memcmp(from, from + 1, n - 1) != 0)
      memcpy(to, from, n);
    to += n;
    from += n;
    len -= n;
  }
}

// Moves the block at old to a block of a->size bytes on a page boundary, and
// copies its first len bytes, at most a->size. Returns NULL if the block could
// not be moved. Then the block at old stays valid.
static void *move_to_page(const struct mprof_alloc *a, void *old, size_t len) {
  bool is_fresh;
  void *p = mprof_place_is_mapping(old)
                ? mprof_placed_get(a->size, &is_fresh)
                : mprof_placed_get_resized(a->size, &is_fresh);
  if (!p)
    return NULL;
  if (is_fresh && mprof_place_is_zeroed(p, a->size))
    copy_pages(p, old, len);
  else
    memcpy(p, old, len);
  mprof_free_own(old);
  return p;
}

// Resizes a large block of glibc's heap that will be counted by moving it to a
// page boundary, without growing it first. A block that grows then leaves a
// small gap. Returns NULL if the block is not such a block, is on a page
// boundary already, or could not be moved. Then the block at old stays valid.
static void *move_in_heap(const struct mprof_alloc *a, void *old) {
  // glibc's realloc also reads the memory in front of the block first.
  if (!mprof_place.is_glibc || a->size >> MPROF_LG_PLACED_END == 0 ||
      MPROF_IS_ON_PAGE(old) || mprof_place_is_mapping(old))
    return NULL;
  // The word in front of a block is the size of its chunk, with three flags. A
  // resize to the size that the block has does nothing, but glibc ends the
  // program with its message if the pointer is invalid. malloc_usable_size
  // would read memory behind the block, which may not be there.
  const size_t word = ((const size_t *)old)[-1];
  const size_t len = (word & ~(size_t)7) - sizeof(word);
  if (NEXT(realloc)(old, len) != old)
    return NULL;
  return move_to_page(a, old, len < a->size ? len : a->size);
}

// Resizes a block that will be counted, or allocates it if old is NULL. Calls
// the allocator's realloc first, unless the block can be moved in the heap,
// because only realloc can detect an invalid pointer. (malloc_usable_size would
// read the memory in front of the pointer.) If the result of realloc is not on
// a page boundary, copies the block to one. When a large block on a page
// boundary grows, libc keeps it on a page boundary. So only the first resize of
// a large block copies it.
static void *resize_counted(const struct mprof_alloc *a, void *old) {
  if (!a->must_place || a->size == 0)
    return NEXT(realloc)(old, a->size);
  bool is_fresh;
  void *p;
  if (old)
    p = move_in_heap(a, old);
  else if (a->size < MPROF_MIN_MAPPED) // a larger block may be mapped
    p = mprof_placed_get_resized(a->size, &is_fresh);
  else
    p = mprof_placed_get(a->size, &is_fresh);
  if (!p)
    p = NEXT(realloc)(old, a->size);
  if (!p || !old || MPROF_IS_ON_PAGE(p))
    return p;
  void *moved = move_to_page(a, p, a->size);
  return moved ? moved : p;
}

// Resizes a counted block on a page boundary by moving it, and keeps its old
// memory for a later sample, as mprof_free_block does. The allocator's realloc
// would either leave the block where it is, although it may not be counted any
// more, or give its memory to the next malloc. In a loop that allocates,
// resizes and frees, this memory would be used in every round, and every call
// that gets it would call the runtime. Returns NULL if the block is too large
// for the cache (placed_cache.h), or could not be moved. Then the block at old
// stays valid.
static void *leave_page(const struct mprof_alloc *a, bool is_counted,
                        void *old) {
  size_t len = malloc_usable_size(old);
  if (len >> MPROF_LG_PLACED_END != 0 || a->size == 0)
    return NULL;
  void *p = is_counted ? placed_block(a, 1) : NEXT(malloc)(a->size);
  if (!p)
    return NULL;
  memcpy(p, old, len < a->size ? len : a->size);
  if (!mprof_placed_put(old))
    NEXT(free)(old);
  return p;
}

// Returns the value of the countdown before the call site has subtracted size.
static int64_t countdown_before(size_t size) {
  return (int64_t)((uint64_t)__mprof_heap_countdown + size);
}

// Resizes the block at old. Removes the block from the profile before the
// allocator can give the block's address to another thread. If the resize
// fails, adds the block to the profile again. countdown: the thread's countdown
// before the call site has subtracted the size.
static void *resize(struct mprof_alloc *a, bool is_counted, void *old,
                    int64_t countdown) {
  struct mprof_released r = {.cell = 0};
  if (old)
    r = mprof_event_release(old);
  void *p = NULL;
  if (r.cell != 0 && r.is_placed && mprof_place_c())
    p = leave_page(a, is_counted, old);
  if (!p)
    p = is_counted ? resize_counted(a, old) : NEXT(realloc)(old, a->size);
  // NULL with size 0 is not a failure, because some libcs then free the block
  // and return NULL.
  if (!p && a->size != 0)
    mprof_event_kept(r, old);
  else
    mprof_event_resized(r, old, p, a->size, countdown);
  return is_counted && p ? mprof_alloc_done(a, p) : p;
}

MPROF_UNALIGNED_ENTRY void *__mprof_realloc(void *old, size_t size) {
  struct mprof_alloc a;
  int64_t before = countdown_before(size);
  bool is_counted = MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c());
  return resize(&a, is_counted, old, before);
}

MPROF_UNALIGNED_ENTRY void *__mprof_reallocarray(void *old, size_t count,
                                                 size_t each) {
  struct mprof_alloc a;
  size_t size;
  if (__builtin_mul_overflow(count, each, &size)) {
    mprof_count_back(size);
    return NEXT(reallocarray)(old, count, each);
  }
  int64_t before = countdown_before(size);
  bool is_counted = MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c());
  return resize(&a, is_counted, old, before);
}

MPROF_ENTRY void __mprof_free(void *ptr) {
  if (!mprof_free_block(ptr, mprof_place_c()))
    NEXT(free)(ptr);
}

MPROF_UNALIGNED_ENTRY void *__mprof_aligned_alloc(size_t align, size_t size) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(aligned_alloc)(align, size);
  void *p = placed_block(&a, align);
  return mprof_alloc_done(&a, p ? p : NEXT(aligned_alloc)(align, size));
}

MPROF_UNALIGNED_ENTRY int __mprof_posix_memalign(void **out, size_t align,
                                                 size_t size) {
  struct mprof_alloc a;
  bool is_valid = align >= sizeof(void *) && (align & (align - 1)) == 0;
  if (!is_valid) {
    mprof_count_back(size);
    return NEXT(posix_memalign)(out, align, size);
  }
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(posix_memalign)(out, align, size);
  void *p = placed_block(&a, align);
  if (p) {
    *out = p;
  } else {
    int err = NEXT(posix_memalign)(out, align, size);
    if (err != 0)
      return err;
  }
  mprof_alloc_done(&a, *out);
  return 0;
}

MPROF_UNALIGNED_ENTRY void *__mprof_memalign(size_t align, size_t size) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(memalign)(align, size);
  void *p = placed_block(&a, align);
  return mprof_alloc_done(&a, p ? p : NEXT(memalign)(align, size));
}

// valloc and pvalloc always return a block on a page boundary.
MPROF_UNALIGNED_ENTRY void *__mprof_valloc(size_t size) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(valloc)(size);
  return mprof_alloc_done(&a, NEXT(valloc)(size));
}

MPROF_UNALIGNED_ENTRY void *__mprof_pvalloc(size_t size) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(pvalloc)(size);
  return mprof_alloc_done(&a, NEXT(pvalloc)(size));
}

// Begins an entry that duplicates a string of len bytes and a terminator of end
// bytes. The call site does not know the size, so this function subtracts the
// size from the countdown. Returns whether the block is counted. If
// a->must_place is set on return, the entry tries to make the copy itself, on a
// page boundary.
static bool begin_copy(struct mprof_alloc *a, size_t len, size_t end,
                       uintptr_t frame) {
  a->size = len + end;
  a->frame = frame;
  mprof_count_down(a->size);
  a->must_place = false;
  if (!mprof_sample_hit(a->size, &a->rate))
    return false;
  a->must_place = mprof_place_c();
  return true;
}

// Copies len bytes to a block on a page boundary. Returns NULL if no such block
// could be allocated. In this case the allocator's own function must make the
// copy.
static void *copy(const struct mprof_alloc *a, const void *from, size_t len) {
  char *p = placed_block(a, 1);
  if (p) {
    memcpy(p, from, len);
    memset(p + len, 0, a->size - len);
  }
  return p;
}

// Body of the entry of f, which duplicates a string. Makes the copy on a page
// boundary, or calls f. Counts the block if it is sampled.
#define DUPLICATE(f, Args, From, Len, End)                                     \
  ({                                                                           \
    struct mprof_alloc a_;                                                     \
    size_t len_ = (Len);                                                       \
    bool is_counted_ =                                                         \
        begin_copy(&a_, len_, (End), (uintptr_t)__builtin_frame_address(0));   \
    void *p_ = copy(&a_, (From), len_);                                        \
    if (!p_)                                                                   \
      p_ = NEXT(f) Args;                                                       \
    is_counted_ ? mprof_alloc_done(&a_, p_) : p_;                              \
  })

MPROF_UNALIGNED_ENTRY char *__mprof_strdup(const char *s) {
  return DUPLICATE(strdup, (s), s, strlen(s), 1);
}

MPROF_UNALIGNED_ENTRY char *__mprof_strndup(const char *s, size_t max) {
  return DUPLICATE(strndup, (s, max), s, strnlen(s, max), 1);
}

MPROF_UNALIGNED_ENTRY wchar_t *__mprof_wcsdup(const wchar_t *s) {
  return DUPLICATE(wcsdup, (s), s, wcslen(s) * sizeof(*s), sizeof(*s));
}
