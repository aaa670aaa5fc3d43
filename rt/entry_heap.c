// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the C heap. A call site comes here when the thread's countdown
// has run out or when the block it releases may be a counted one. Each entry
// does what its function does, through the allocator that the program is
// linked with, and counts what is to be counted.

#include "entry.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

// Not every libc and allocator has these; a call of one that is missing does
// not link, so its entry is never reached. Strong references would also draw
// libc's allocator into a static program that brings its own.
#pragma weak reallocarray
#pragma weak aligned_alloc
#pragma weak posix_memalign
#pragma weak memalign
#pragma weak valloc
#pragma weak pvalloc
#pragma weak malloc_usable_size

// What a site took off the countdown (of a product, modulo 2^64) for a request
// that will fail. An entry that does not ask mprof_sample_hit must call this:
// the countdown may have gone around.
static void give_back(size_t wrapped) {
  __mprof_heap_countdown =
      (int64_t)((uint64_t)__mprof_heap_countdown + wrapped);
}

// A block on a page boundary for the masks' sake, or NULL. is_fresh: it is not
// one that was kept, and may be known to be zero.
static void *take_block(const struct mprof_alloc *a, size_t align,
                        bool *is_fresh) {
  void *p = NULL;
  *is_fresh = false;
  int saved = errno;
  if (!a->must_place || (align & (align - 1)) != 0)
    return NULL;
  if (align <= MPROF_PAGE) {
    if ((p = mprof_keep_take(a->size)))
      return p;
    align = MPROF_PAGE;
  }
  if (posix_memalign(&p, align, a->size ? a->size : 1) != 0)
    p = NULL;
  *is_fresh = p != NULL;
  errno = saved;
  return p;
}

static void *placed_block(const struct mprof_alloc *a, size_t align) {
  bool is_fresh;
  return take_block(a, align, &is_fresh);
}

MPROF_ENTRY void *__mprof_malloc(size_t size) {
  struct mprof_alloc a;
  if (!MPROF_BEGIN(&a, size, mprof_place_c()))
    return malloc(size);
  void *p = placed_block(&a, 1);
  return mprof_alloc_done(&a, p ? p : malloc(size));
}

MPROF_ENTRY void *__mprof_calloc(size_t count, size_t each) {
  struct mprof_alloc a;
  size_t size;
  if (__builtin_mul_overflow(count, each, &size)) {
    give_back(size);
    return calloc(count, each);
  }
  if (!MPROF_BEGIN(&a, size, mprof_place_c()))
    return calloc(count, each);
  bool is_fresh;
  void *p = take_block(&a, 1, &is_fresh);
  if (!p)
    p = calloc(count, each);
  else if (!is_fresh || !mprof_place_is_zeroed(p, size))
    memset(p, 0, size);
  return mprof_alloc_done(&a, p);
}

// Moves a block that cannot stay where it is to a page boundary. Copies only
// what the old block had: touching the rest would make it resident.
static void *move_to_page(const struct mprof_alloc *a, void *old) {
  size_t had = malloc_usable_size(old);
  void *p = placed_block(a, 1);
  if (!p)
    return NULL;
  memcpy(p, old, had < a->size ? had : a->size);
  free(old);
  return p;
}

// Resizes a block that is to be counted. libc keeps a large block on its page
// boundary when it grows, so only the first time copies it.
static void *resize_counted(const struct mprof_alloc *a, void *old) {
  if (!a->must_place || a->size == 0)
    return realloc(old, a->size);
  void *p;
  if (!old)
    p = placed_block(a, 1);
  else if (((uintptr_t)old & (MPROF_PAGE - 1)) != 0)
    p = move_to_page(a, old);
  else {
    p = realloc(old, a->size);
    if (!p || ((uintptr_t)p & (MPROF_PAGE - 1)) == 0)
      return p;
    old = p;
    p = move_to_page(a, old);
    return p ? p : old;
  }
  return p ? p : realloc(old, a->size);
}

// The block leaves the profile before the allocator can hand its address to
// another thread, and returns to it if it could not be resized.
static void *resize(struct mprof_alloc *a, bool is_counted, void *old) {
  struct mprof_released r = {0, false};
  if (old)
    r = mprof_event_release(old);
  void *p = is_counted ? resize_counted(a, old) : realloc(old, a->size);
  // NULL for size 0: some libcs free the block so, and say so by it.
  if (!p && a->size != 0)
    mprof_event_kept(r, old);
  else
    mprof_event_freed(r);
  return is_counted && p ? mprof_alloc_done(a, p) : p;
}

MPROF_ENTRY void *__mprof_realloc(void *old, size_t size) {
  struct mprof_alloc a;
  bool is_counted = MPROF_BEGIN(&a, size, mprof_place_c());
  return resize(&a, is_counted, old);
}

MPROF_ENTRY void *__mprof_reallocarray(void *old, size_t count, size_t each) {
  struct mprof_alloc a;
  size_t size;
  if (__builtin_mul_overflow(count, each, &size)) {
    give_back(size);
    return reallocarray(old, count, each);
  }
  bool is_counted = MPROF_BEGIN(&a, size, mprof_place_c());
  return resize(&a, is_counted, old);
}

MPROF_ENTRY void __mprof_free(void *ptr) {
  if (!mprof_free_block(ptr, mprof_place_c()))
    free(ptr);
}

MPROF_ENTRY void *__mprof_aligned_alloc(size_t align, size_t size) {
  struct mprof_alloc a;
  if (!MPROF_BEGIN(&a, size, mprof_place_c()))
    return aligned_alloc(align, size);
  void *p = placed_block(&a, align);
  return mprof_alloc_done(&a, p ? p : aligned_alloc(align, size));
}

MPROF_ENTRY int __mprof_posix_memalign(void **out, size_t align, size_t size) {
  struct mprof_alloc a;
  bool is_valid = align >= sizeof(void *) && (align & (align - 1)) == 0;
  if (!is_valid) {
    give_back(size);
    return posix_memalign(out, align, size);
  }
  if (!MPROF_BEGIN(&a, size, mprof_place_c()))
    return posix_memalign(out, align, size);
  void *p = placed_block(&a, align);
  if (p) {
    *out = p;
  } else {
    int err = posix_memalign(out, align, size);
    if (err != 0)
      return err;
  }
  mprof_alloc_done(&a, *out);
  return 0;
}

MPROF_ENTRY void *__mprof_memalign(size_t align, size_t size) {
  struct mprof_alloc a;
  if (!MPROF_BEGIN(&a, size, mprof_place_c()))
    return memalign(align, size);
  void *p = placed_block(&a, align);
  return mprof_alloc_done(&a, p ? p : memalign(align, size));
}

// Always on a page boundary.
MPROF_ENTRY void *__mprof_valloc(size_t size) {
  struct mprof_alloc a;
  if (!MPROF_BEGIN(&a, size, mprof_place_c()))
    return valloc(size);
  return mprof_alloc_done(&a, valloc(size));
}

MPROF_ENTRY void *__mprof_pvalloc(size_t size) {
  struct mprof_alloc a;
  if (!MPROF_BEGIN(&a, size, mprof_place_c()))
    return pvalloc(size);
  return mprof_alloc_done(&a, pvalloc(size));
}

// Duplicates: the site cannot know the size, so the countdown is taken down
// here. The block is copied here only when it is to be placed.
static void count_down(size_t size) {
  __mprof_heap_countdown =
      (int64_t)((uint64_t)__mprof_heap_countdown - (uint64_t)size);
}

static void *placed_copy(const struct mprof_alloc *a, const void *from,
                         size_t len) {
  char *p = placed_block(a, 1);
  if (p) {
    memcpy(p, from, len);
    memset(p + len, 0, a->size - len);
  }
  return p;
}

MPROF_ENTRY char *__mprof_strdup(const char *s) {
  struct mprof_alloc a;
  size_t len = strlen(s);
  count_down(len + 1);
  if (!MPROF_BEGIN(&a, len + 1, mprof_place_c()))
    return strdup(s);
  void *p = placed_copy(&a, s, len);
  return mprof_alloc_done(&a, p ? p : strdup(s));
}

MPROF_ENTRY char *__mprof_strndup(const char *s, size_t max) {
  struct mprof_alloc a;
  size_t len = strnlen(s, max);
  count_down(len + 1);
  if (!MPROF_BEGIN(&a, len + 1, mprof_place_c()))
    return strndup(s, max);
  void *p = placed_copy(&a, s, len);
  return mprof_alloc_done(&a, p ? p : strndup(s, max));
}

MPROF_ENTRY wchar_t *__mprof_wcsdup(const wchar_t *s) {
  struct mprof_alloc a;
  size_t len = wcslen(s) * sizeof(*s);
  count_down(len + sizeof(*s));
  if (!MPROF_BEGIN(&a, len + sizeof(*s), mprof_place_c()))
    return wcsdup(s);
  void *p = placed_copy(&a, s, len);
  return mprof_alloc_done(&a, p ? p : wcsdup(s));
}
