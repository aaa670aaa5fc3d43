// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of allocators that the program marks with mprof_alloc, mprof_free
// and mprof_realloc. The program's function does its work at the site; these
// only count. Their blocks lie where that allocator puts them, so from the
// first counted one on each mprof_free asks the live map.

#include "entry.h"

static void count(struct mprof_alloc *a, void *ptr) {
  // Another thread can free the block only after this one has handed it on,
  // and then sees the mask with it.
  __atomic_store_n(&__mprof_custom_mask, 0, __ATOMIC_RELEASE);
  mprof_alloc_done(a, ptr);
}

MPROF_ENTRY void __mprof_custom_alloc(void *ptr, size_t size) {
  struct mprof_alloc a;
  if (MPROF_BEGIN(&a, size, false) && ptr)
    count(&a, ptr);
}

MPROF_ENTRY void __mprof_custom_free(void *ptr) {
  mprof_free_block(ptr, false);
}

// Of the token, the lower half is the bucket; the next bits say where the block
// was entered and whether it was the thread's last.
MPROF_ENTRY uint64_t __mprof_custom_realloc_begin(void *ptr) {
  struct mprof_released r = {.bucket = 0};
  if (ptr)
    r = mprof_event_release(ptr);
  // If the allocator throws, the other entry is not called; a countdown below 0
  // would then be taken for a large one.
  if (__mprof_heap_countdown < 0)
    __mprof_heap_countdown = 0;
  return r.bucket | (uint64_t)r.is_placed << 32 | (uint64_t)r.is_last << 33;
}

MPROF_ENTRY void __mprof_custom_realloc_end(uint64_t token, void *old_ptr,
                                            void *new_ptr, size_t size,
                                            int64_t countdown) {
  struct mprof_released r = {.bucket = (uint32_t)token,
                             .is_placed = token >> 32 & 1,
                             .is_last = token >> 33 & 1};
  int64_t before = (int64_t)((uint64_t)countdown + size);
  struct mprof_alloc a;
  if (!new_ptr && size != 0)
    mprof_event_kept(r, old_ptr);
  else
    mprof_event_resized(r, old_ptr, new_ptr, size, before);
  bool ran_out = countdown <= 0 || size > PTRDIFF_MAX;
  if (ran_out && MPROF_BEGIN(&a, size, false) && new_ptr)
    count(&a, new_ptr);
}
