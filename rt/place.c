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
//   operator new     when it is the runtime's own, which is malloc by another
//                    name, or libstdc++'s or libc++'s shared one, whose
//                    delete ignores the size it is given. Other allocators'
//                    trust that size, and a program's own may do anything
// Where that does not hold, and in exact mode, blocks stay where they are, the
// family's mask becomes 0 and each free asks the live map.

#include "init.h"

#include "fastpath.h"
#include "flags.h"
#include "next.h"
#include "sample.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#pragma weak posix_memalign
#pragma weak malloc_usable_size
#pragma weak dlsym

// Every hooked function of the program, by address; NULL if it has none. The
// C++ operators are told by their mangled names.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern char hooked_##Symbol[] __asm__(#Symbol) __attribute__((weak));
#include "mprof/hooks.def"
static const struct {
  const char *name;
  char *address;
} hooked[] = {
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  {#Symbol, hooked_##Symbol},
#include "mprof/hooks.def"
};

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

static bool starts_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

// The function itself. Where a program that is not position-independent takes
// its address, the linker has given it another one, in the program; the loader
// knows better. Not so in static programs, which have no dlsym.
static struct mprof_module home_of(const char *name, void *address) {
  void *real = dlsym && address ? dlsym(RTLD_DEFAULT, name) : NULL;
  return mprof_module_of(real ? real : address);
}

// The same, or where the runtime stands in front of it, of what lies beneath.
static struct mprof_module beneath(const char *name, void *address) {
  // Also where the program has a part of the family, and the runtime the rest.
  for (const struct mprof_intercept *i = mprof_intercept_c; i && i->name; i++)
    if (strcmp(i->name, name) == 0 && i->bound == i->own)
      return mprof_module_of(*i->word);
  return home_of(name, address);
}

static struct mprof_module home_of_c(void) {
  static const struct {
    const char *name;
    void *address;
  } functions[] = {{"malloc", (void *)malloc},
                   {"calloc", (void *)calloc},
                   {"realloc", (void *)realloc},
                   {"free", (void *)free},
                   {"posix_memalign", (void *)posix_memalign},
                   {"malloc_usable_size", (void *)malloc_usable_size}};
  struct mprof_module home = {.id = 0};
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    struct mprof_module m = beneath(functions[i].name, functions[i].address);
    if (i == 0)
      home = m;
    else if (m.id != home.id)
      return (struct mprof_module){.id = 0};
  }
  return home;
}

// Whether every form of operator new and delete is the C++ library's own: one
// that the program replaces has blocks that the others know nothing of.
static bool operators_are_library_s(void) {
  uintptr_t home = 0;
  for (size_t i = 0; i < sizeof(hooked) / sizeof(hooked[0]); i++) {
    if (!starts_with(hooked[i].name, "_Z"))
      continue;
    struct mprof_module m = home_of(hooked[i].name, hooked[i].address);
    if (!mprof_module_is_cxx_library(&m) || (home != 0 && m.id != home))
      return false;
    home = m.id;
  }
  return home != 0;
}

void mprof_place_init(void) {
  // A sanitizer's allocator checks how blocks are made and freed.
  if (mprof_has_sanitizer())
    return;
  struct mprof_module home = home_of_c();
  mprof_place.c = home.id != 0;
  mprof_place.is_glibc = starts_with(home.name, "libc.so.6");
  mprof_place.cxx =
      mprof_place.c && (mprof_intercepted.cxx || operators_are_library_s());
}

void mprof_place_set_masks(uint64_t rate) {
  // With rate 0 nothing is counted, and a later rate comes here again.
  if (rate == 0)
    return;
  // A block that is placed is not where and as large as the program's allocator
  // would have it, and a resize moves it.
  bool sampled = rate >= MPROF_MIN_PLACED_RATE && !mprof_flags.heapx;
  if (!sampled || !mprof_place.c)
    __atomic_store_n(&__mprof_free_mask, 0, __ATOMIC_RELEASE);
  if (!sampled || !mprof_place.cxx)
    __atomic_store_n(&__mprof_delete_mask, 0, __ATOMIC_RELEASE);
}

// Smaller blocks are as well set to 0.
#define MIN_ZEROED (64u << 10)

// glibc marks a chunk that is a mapping of its own with bit 1 of the size in
// front of the block, and its calloc trusts such a chunk to be zero unless
// M_PERTURB fills blocks, which shows in the first byte.
bool mprof_place_is_zeroed(const void *p, size_t size) {
  return mprof_place.is_glibc && size >= MIN_ZEROED &&
         (((const size_t *)p)[-1] & 2) != 0 && *(const size_t *)p == 0;
}
