// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the C heap. The entry of a function f is the runtime's function
// __mprof_f. An instrumented call site calls the entry in place of f in two
// cases: the thread's sampling countdown has run out, or the block that the
// call releases may be counted. The entry calls f of the program's allocator
// and counts the block.
//
// While mprof_place_c holds (event.h), every counted block is placed
// on a page boundary. So a block that is not on a page boundary is not counted.
// A call site frees such a block without a call of the runtime.

#define MPROF_ALLOCATOR_FAMILY MPROF_FAMILY_C

#include "heap/event.h"
#include "sys/abi_words.h"
#include "sys/libc.h"

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
static void *placed_block(const struct mprof_alloc *a, size_t align) {
  if (!a->must_place || (align & (align - 1)) != 0)
    return NULL;
  return mprof_place_block(a->size, align);
}

MPROF_UNALIGNED_ENTRY void *__mprof_malloc(size_t size) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(malloc)(size);
  void *p = placed_block(&a, 1);
  return mprof_event_alloc(&a, p ? p : NEXT(malloc)(size));
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
  void *p = placed_block(&a, 1);
  if (!p)
    p = NEXT(calloc)(count, each);
  else if (!mprof_place_is_zeroed(p, size))
    memset(p, 0, size);
  return mprof_event_alloc(&a, p);
}

// Returns the number of usable bytes of the block at old, or SIZE_MAX if they
// are unknown. If the pointer is invalid, glibc ends the program with its
// message, as it does in realloc: a resize to the size that the block has does
// nothing else. malloc_usable_size would read memory behind the block, which
// may not be there. The word in front of a block of glibc is the size of its
// chunk, with three flags.
static size_t usable_size(void *old) {
  if (!mprof_place.is_glibc)
    return malloc_usable_size(old);
  const size_t chunk = ((const size_t *)old)[-1] & ~(size_t)7;
  // glibc adds 8 bytes to the size of a mapping before it rounds to pages. So
  // the last 8 bytes are usable, but no resize may ask for them.
  const size_t unasked = mprof_place_is_mapping(old) ? 8 : 0;
  const size_t len = chunk - 8 - 2 * unasked;
  return NEXT(realloc)(old, len) == old ? len + unasked : SIZE_MAX;
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

// Blocks of fewer usable bytes leave their page boundary when they are resized.
#define MOVED_END (32u << 10)

// Resizes the block at old, or allocates a block if old is NULL. The block is
// moved in two cases:
// - It will be counted and is not on a page boundary. When a large block on a
//   page boundary grows, glibc keeps it on one. So only the first resize of a
//   large block copies it.
// - It was counted, it is small, and it will not be counted any more. The
//   allocator might leave it on its page boundary and give its memory to the
//   next malloc of its new size. In a loop that allocates, resizes and frees,
//   each call that gets this memory would call the runtime.
static void *resize_block(const struct mprof_alloc *a, bool is_counted,
                          bool was_counted, void *old) {
  const bool is_placed = old && MPROF_IS_ON_PAGE(old);
  if (!mprof_place_c() || a->size == 0 ||
      (!is_counted && (!was_counted || !is_placed)))
    return NEXT(realloc)(old, a->size);
  const size_t len = old ? usable_size(old) : 0;
  if (len == SIZE_MAX)
    return NEXT(realloc)(old, a->size);
  if (is_placed && (is_counted || len >= MOVED_END)) {
    void *p = NEXT(realloc)(old, a->size);
    if (!p || !is_counted || MPROF_IS_ON_PAGE(p))
      return p;
    old = p;
  }
  void *p;
  if (!is_counted)
    p = NEXT(malloc)(a->size);
  else if (old && mprof_place_is_mapping(old))
    p = mprof_place_block(a->size, 1);
  else
    p = mprof_place_resized_block(a->size);
  if (!p)
    return NEXT(realloc)(old, a->size);
  if (old) {
    const size_t kept = len < a->size ? len : a->size;
    if (is_counted && mprof_place_is_zeroed(p, a->size))
      copy_pages(p, old, kept);
    else
      memcpy(p, old, kept);
    mprof_place_free(old);
  }
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
  void *p = resize_block(a, is_counted, r.cell != 0, old);
  // NULL with size 0 is not a failure, because some libcs then free the block
  // and return NULL.
  if (!p && a->size != 0)
    mprof_event_kept(r, old);
  else
    mprof_event_resized(r, old, p, a->size, countdown);
  return is_counted && p ? mprof_event_alloc(a, p) : p;
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
  if (ptr)
    mprof_event_free(ptr);
  NEXT(free)(ptr);
}

MPROF_UNALIGNED_ENTRY void *__mprof_aligned_alloc(size_t align, size_t size) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(aligned_alloc)(align, size);
  void *p = placed_block(&a, align);
  return mprof_event_alloc(&a, p ? p : NEXT(aligned_alloc)(align, size));
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
  mprof_event_alloc(&a, *out);
  return 0;
}

MPROF_UNALIGNED_ENTRY void *__mprof_memalign(size_t align, size_t size) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(memalign)(align, size);
  void *p = placed_block(&a, align);
  return mprof_event_alloc(&a, p ? p : NEXT(memalign)(align, size));
}

// valloc and pvalloc always return a block on a page boundary.
MPROF_UNALIGNED_ENTRY void *__mprof_valloc(size_t size) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(valloc)(size);
  return mprof_event_alloc(&a, NEXT(valloc)(size));
}

MPROF_UNALIGNED_ENTRY void *__mprof_pvalloc(size_t size) {
  struct mprof_alloc a;
  if (!MPROF_SAMPLE_ALLOC(&a, size, mprof_place_c()))
    return NEXT(pvalloc)(size);
  return mprof_event_alloc(&a, NEXT(pvalloc)(size));
}

// Begins an entry that duplicates a string of len bytes and a terminator of end
// bytes. The call site has not subtracted the size from the countdown, or has
// added it again, so this function subtracts it. Returns whether the block is
// counted. If a->must_place is set on return, the entry tries to make the copy
// itself, on a page boundary.
static bool begin_copy(struct mprof_alloc *a, size_t len, size_t end,
                       uintptr_t frame) {
  a->size = len + end;
  a->frame = frame;
  a->family = MPROF_ALLOCATOR_FAMILY;
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

MPROF_UNALIGNED_ENTRY char *__mprof_strdup(const char *s) {
  struct mprof_alloc a;
  const size_t len = strlen(s);
  const bool is_counted =
      begin_copy(&a, len, 1, (uintptr_t)__builtin_frame_address(0));
  char *p = copy(&a, s, len);
  if (!p)
    p = NEXT(strdup)(s);
  return is_counted ? mprof_event_alloc(&a, p) : p;
}

MPROF_UNALIGNED_ENTRY char *__mprof_strndup(const char *s, size_t max) {
  struct mprof_alloc a;
  const size_t len = strnlen(s, max);
  const bool is_counted =
      begin_copy(&a, len, 1, (uintptr_t)__builtin_frame_address(0));
  char *p = copy(&a, s, len);
  if (!p)
    p = NEXT(strndup)(s, max);
  return is_counted ? mprof_event_alloc(&a, p) : p;
}

MPROF_UNALIGNED_ENTRY wchar_t *__mprof_wcsdup(const wchar_t *s) {
  struct mprof_alloc a;
  const size_t len = wcslen(s) * sizeof(*s);
  const bool is_counted =
      begin_copy(&a, len, sizeof(*s), (uintptr_t)__builtin_frame_address(0));
  wchar_t *p = copy(&a, s, len);
  if (!p)
    p = NEXT(wcsdup)(s);
  return is_counted ? mprof_event_alloc(&a, p) : p;
}
