// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the functions that only jemalloc has: the functions __mprof_f that
// instrumented code calls in place of f. jemalloc has one heap for these
// functions and for malloc. So sdallocx, for example, may free a block of
// malloc.
//
// jemalloc trusts the size that the program passes to sdallocx. But a counted
// block fills whole pages, whatever size was requested. So the entry of
// sdallocx frees a block on a page boundary by dallocx, which takes no size.

#include "entry/alloc_entry.h"
#include "heap/event.h"
#include "heap/page_placement.h"
#include "sys/abi_words.h"
#include "sys/resolve_late.h"

// The references are weak because every program has these entries, but few
// programs are linked with jemalloc.
#define WEAK __attribute__((weak))
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
  return mprof_alloc_done(&a, CALL(mallocx, (size, placed(&a, flags))));
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
  return is_counted ? mprof_alloc_done(&a, ptr) : ptr;
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
