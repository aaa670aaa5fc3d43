// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which blocks may lie on page boundaries. In sampled mode a counted block is
// put on one, so that a site that frees can tell by the address alone that a
// block is not counted. That takes an allocator whose aligned blocks may be
// freed, resized and measured like any other, also by code that was compiled
// without MProf:
//   malloc's family  when malloc, free, realloc and posix_memalign come from
//                    one module: a program with a malloc of its own, but no
//                    posix_memalign, must not get libc's block into its free
//   operator new     when it is libstdc++'s or libc++'s shared one, whose
//                    delete ignores the size it is given. Other allocators'
//                    trust that size, and a program's own may do anything
// Where that does not hold, and in exact mode, blocks stay where they are, the
// family's mask becomes 0 and each free asks the live map.

#include "init.h"

#include "fastpath.h"
#include "sample.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

uintptr_t __mprof_free_mask = MPROF_PAGE - 1;
uintptr_t __mprof_delete_mask = MPROF_PAGE - 1;
uintptr_t __mprof_custom_mask = ~(uintptr_t)0;

#pragma weak posix_memalign
#pragma weak malloc_usable_size

// Of the program's C++ library, if it has one.
extern void *_Znwm(size_t) __attribute__((weak));
extern void _ZdlPv(void *) __attribute__((weak));
extern void *_ZnwmSt11align_val_t(size_t, size_t) __attribute__((weak));
extern void _ZdlPvSt11align_val_t(void *, size_t) __attribute__((weak));

extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __lsan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));

struct mprof_place mprof_place;

bool mprof_has_sanitizer(void) {
  return __asan_init || __tsan_init || __msan_init || __lsan_init ||
         __hwasan_init;
}

static bool same_module(void *const *functions, size_t n,
                        struct mprof_module *m) {
  *m = mprof_module_of(functions[0]);
  if (m->id == 0)
    return false;
  for (size_t i = 1; i < n; i++)
    if (mprof_module_of(functions[i]).id != m->id)
      return false;
  return true;
}

static bool starts_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

void mprof_place_init(void) {
  // A sanitizer's allocator checks how blocks are made and freed.
  if (mprof_has_sanitizer())
    return;
  struct mprof_module m;
  void *const c[] = {(void *)malloc,         (void *)free,
                     (void *)realloc,        (void *)calloc,
                     (void *)posix_memalign, (void *)malloc_usable_size};
  mprof_place.c = same_module(c, sizeof(c) / sizeof(c[0]), &m);
  mprof_place.is_glibc = mprof_place.c && starts_with(m.name, "libc.so.6");
  void *const cxx[] = {(void *)_Znwm, (void *)_ZdlPv,
                       (void *)_ZnwmSt11align_val_t,
                       (void *)_ZdlPvSt11align_val_t};
  mprof_place.cxx =
      mprof_place.c && same_module(cxx, sizeof(cxx) / sizeof(cxx[0]), &m) &&
      (starts_with(m.name, "libstdc++.so") ||
       starts_with(m.name, "libc++.so") || starts_with(m.name, "libc++abi.so"));
}

void mprof_place_set_masks(uint64_t rate) {
  // With rate 0 nothing is counted, and a later rate comes here again.
  if (rate == 0)
    return;
  bool sampled = rate >= MPROF_MIN_PLACED_RATE;
  if (!sampled || !mprof_place.c)
    __atomic_store_n(&__mprof_free_mask, 0, __ATOMIC_RELEASE);
  if (!sampled || !mprof_place.cxx)
    __atomic_store_n(&__mprof_delete_mask, 0, __ATOMIC_RELEASE);
}

// glibc marks a chunk that is a mapping of its own with bit 1 of the size in
// front of the block, and its calloc trusts such a chunk to be zero unless
// M_PERTURB fills blocks, which shows in the first byte.
bool mprof_place_is_zeroed(const void *p, size_t size) {
  return mprof_place.is_glibc && size >= sizeof(size_t) &&
         (((const size_t *)p)[-1] & 2) != 0 && *(const size_t *)p == 0;
}
