// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which families place blocks on page boundaries. In sampled mode a
// counted block is placed on a page boundary. So a call site that frees a block
// off a page boundary knows that the block is not counted. A family may place
// blocks only if the allocator's free, resize and size functions handle aligned
// blocks like any other block, even when their caller was compiled without
// MProf:
//   malloc family  Blocks are placed if malloc, free, realloc and
//                  posix_memalign come from one module. If a program defines
//                  malloc but not posix_memalign, its free must not receive a
//                  block from libc's posix_memalign.
//   operator new   Blocks are placed if operator new is the runtime's, which
//                  forwards to malloc, or comes from the shared library
//                  libstdc++ or libc++, whose operator delete ignores the size
//                  argument. Other allocators trust this argument, and the
//                  operators of a program may do anything.
// Otherwise, and in exact mode, the allocator chooses the address of blocks.
// Then the family's mask is 0, and each free looks up the block in the live
// map.

#include "heap/page_placement.h"

#include "heap/beneath.h"
#include "heap/sample.h"
#include "process/modules.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/flags.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#pragma weak posix_memalign
#pragma weak malloc_usable_size
#pragma weak dlsym

// The address of each hooked function, NULL if the program does not have the
// function. C++ operators have their mangled names.
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

struct mprof_place mprof_place;

static bool starts_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

// Returns the module that defines the function name. In a program that is not
// position-independent, address may be a stub made by the linker, so the loader
// is asked for the real address. Static programs have no dlsym, so address is
// used.
static struct mprof_module home_of(const char *name, void *address) {
  void *real = dlsym && address ? dlsym(RTLD_DEFAULT, name) : NULL;
  return mprof_module_of(real ? real : address);
}

// Returns the module that defines the function name. For a function that the
// runtime intercepts, returns the module of the allocator's definition beneath.
static struct mprof_module beneath(const char *name, void *address) {
  // The program may define some functions of the family and the runtime the
  // others, so check each function.
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

// Returns whether all forms of operator new and delete come from one C++
// library. If the program replaces one form, the other forms cannot handle the
// blocks of the replaced form.
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
  // The allocator of a sanitizer checks that each block is freed by the
  // function that matches its allocation.
  if (mprof_has_sanitizer())
    return;
  struct mprof_module home = home_of_c();
  mprof_place.c = home.id != 0;
  mprof_place.is_glibc = starts_with(home.name, "libc.so.6");
  mprof_place.cxx =
      mprof_place.c && (mprof_intercepted.cxx || operators_are_library_s());
}

void mprof_place_set_masks(uint64_t rate) {
  // Keep the masks: with rate 0 no block is counted, and this function runs
  // again when the rate changes.
  if (rate == 0)
    return;
  // No block is placed if heapx is on. Placing changes the address and the
  // usable size of a block, and a later resize moves the block. That would
  // distort the resizes and the slack that the heapx profile counts.
  bool sampled = rate >= MPROF_MIN_PLACED_RATE && !mprof_flags.heapx;
  if (!sampled || !mprof_place.c)
    __atomic_store_n(&__mprof_free_mask, 0, __ATOMIC_RELEASE);
  if (!sampled || !mprof_place.cxx)
    __atomic_store_n(&__mprof_delete_mask, 0, __ATOMIC_RELEASE);
}

// In bytes. Clearing a smaller block costs no more than the check below.
#define MIN_ZEROED (64u << 10)

// glibc sets bit 1 in the size word in front of a block that is a mapping of
// its own. Such a block is zero, as glibc's calloc also assumes, unless
// M_PERTURB makes malloc fill blocks. The first word of the block shows whether
// the block was filled.
bool mprof_place_is_zeroed(const void *p, size_t size) {
  return mprof_place.is_glibc && size >= MIN_ZEROED &&
         (((const size_t *)p)[-1] & 2) != 0 && *(const size_t *)p == 0;
}
