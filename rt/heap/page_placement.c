// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which families of functions place their counted blocks on page
// boundaries. If all counted blocks of a family are on page boundaries, a call
// site that frees a block off a page boundary knows that the block is not
// counted. Blocks are not placed with heap_rate=1 and other small rates
// (MPROF_MIN_PLACED_RATE).
//
// A family may place blocks only if the allocator's free, resize and size
// functions handle aligned blocks like any other block. This must also be true
// for calls from code that was compiled without MProf. The rules are:
//   malloc family  Blocks are placed if malloc, calloc, realloc, free,
//                  posix_memalign and malloc_usable_size come from one module.
//                  If a program defines malloc but not posix_memalign, its free
//                  must not receive a block from libc's posix_memalign.
//   operator new   Blocks are placed if operator new is the runtime's, which
//                  forwards to malloc. Blocks are also placed if operator new
//                  comes from the shared library libstdc++ or libc++, because
//                  the library's operator delete ignores the size argument.
//                  Other allocators rely on this argument, and the operators of
//                  a program may do anything.
// If a family does not place blocks, the allocator chooses their addresses. In
// this case the family's mask (__mprof_free_mask or __mprof_delete_mask) is 0,
// and __mprof_free_off_page is the runtime's entry. So each free looks up the
// block in the live map.

#include "heap/beneath.h"
#include "heap/event.h"
#include "options/flags.h"
#include "process/modules.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/message.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#pragma weak posix_memalign
#pragma weak malloc_usable_size
#pragma weak dlsym

static const char names[][40] = {
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr) #Symbol,
#include "mprof/hooks.def"
};
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  MPROF_FITS(#Symbol, names[0])
#include "mprof/hooks.def"

struct mprof_place mprof_place;

// Returns the module that defines the function `name`. In a program that is not
// position-independent, `address` may be a stub made by the linker. So the
// loader is asked for the real address. Static programs have no dlsym, so
// `address` is used for them.
static MPROF_NOINLINE struct mprof_module home_of(const char *name,
                                                  void *address) {
  void *real = dlsym && address ? dlsym(RTLD_DEFAULT, name) : NULL;
  return mprof_module_of(real ? real : address);
}

// Returns the module that defines the function `name`. If the program's calls
// of this function reach an interceptor of the runtime (beneath.h), returns the
// module of the definition that the interceptor calls. word: address of the
// word __mprof_next_<name>, or NULL if there is none.
static MPROF_NOINLINE struct mprof_module
beneath(const char *name, void *address, void *const *word) {
  // Check each function, because the program may define some functions of the
  // family, and the runtime may intercept the others.
  for (const struct mprof_intercept *i = mprof_intercept_c;
       mprof_next_is_linked() && i->name; i++)
    if (i->word == word && mprof_next_is_own(i))
      return mprof_module_of(*word);
  return home_of(name, address);
}

static struct mprof_module home_of_c(void) {
  static const struct {
    const char *name;
    void *address;
    void *const *word;
  } functions[] = {
      {"malloc", (void *)malloc, &__mprof_next_malloc},
      {"calloc", (void *)calloc, &__mprof_next_calloc},
      {"realloc", (void *)realloc, &__mprof_next_realloc},
      {"free", (void *)free, &__mprof_next_free},
      {"posix_memalign", (void *)posix_memalign, &__mprof_next_posix_memalign},
      {"malloc_usable_size", (void *)malloc_usable_size, NULL}};
  struct mprof_module home = {.id = 0};
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    struct mprof_module m =
        beneath(functions[i].name, functions[i].address, functions[i].word);
    if (i == 0)
      home = m;
    else if (m.id != home.id)
      return (struct mprof_module){.id = 0};
  }
  return home;
}

// Returns whether all forms of operator new and delete come from one C++
// library. If the program replaces one form, the other forms cannot handle
// blocks of that form.
static bool operators_are_library_s(void) {
  // The names of the operators are mangled and begin with _Z. The table of
  // names is not read for this, because it would be one more page of memory in
  // a program without operators.
  _Static_assert(sizeof(names) / sizeof(names[0]) <= 64, "one bit for a name");
  uint64_t operators = 0;
  size_t n = 0;
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  operators |= (uint64_t)(#Symbol[0] == '_' && #Symbol[1] == 'Z') << n++;
#include "mprof/hooks.def"
  uintptr_t home = 0;
  for (size_t i = 0; i < n; i++) {
    if ((operators >> i & 1) == 0)
      continue;
    struct mprof_module m = home_of(names[i], mprof_heap_functions[i]);
    if (!mprof_module_is_cxx_library(&m) || (home != 0 && m.id != home))
      return false;
    home = m.id;
  }
  return home != 0;
}

// Index of operator delete in names[].
enum {
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr) NUMBER_OF_##Symbol,
#include "mprof/hooks.def"
  DELETE = NUMBER_OF__ZdlPv
};

void mprof_place_init(void (*free_entry)(void *ptr)) {
  mprof_place.free_entry = free_entry;
  // Place no blocks under a sanitizer, because its allocator checks that each
  // block is freed by the function that matches its allocation.
  if (mprof_has_sanitizer())
    return;
  struct mprof_module home = home_of_c();
  mprof_place.c = home.id != 0;
  mprof_place.is_glibc = mprof_text_after(home.name, "libc.so.6") != NULL;
  mprof_place.cxx =
      mprof_place.c && (mprof_intercepted.cxx || operators_are_library_s());
  mprof_place.measures =
      mprof_place.c &&
      (mprof_place.cxx || mprof_heap_functions[DELETE] == NULL);
}

void mprof_place_set_masks(uint64_t rate) {
  // With rate 0 no block is counted. So the masks by which call sites of free
  // and delete recognize counted blocks need not change. This function is
  // called again when the rate changes.
  if (rate == 0 && !mprof_flags.lock_order)
    return;
  // No block is placed on a page boundary if the option heapx is on. A placed
  // block has a different address and usable size than without MProf, and a
  // later resize always moves the block. This would distort the resizes and the
  // slack that the heapx profile counts.
  // With lock_order, every free is seen, because the locks in the block end.
  bool sampled = rate >= MPROF_MIN_PLACED_RATE && !mprof_flags.heapx &&
                 !mprof_flags.lock_order;
  if (!sampled || !mprof_place.c) {
    __atomic_store_n(&__mprof_free_off_page, (void *)mprof_place.free_entry,
                     __ATOMIC_RELEASE);
    __atomic_store_n(&__mprof_free_mask, 0, __ATOMIC_RELEASE);
  }
  if (!sampled || !mprof_place.cxx)
    __atomic_store_n(&__mprof_delete_mask, 0, __ATOMIC_RELEASE);
}

// A small block has almost the size of a page. A freed block of this size does
// not go to the thread's cache of glibc, from which the program would get the
// block again and again in a loop that allocates and frees. The block would
// then be uncounted, but on a page boundary, so each free would call the
// runtime. The 40 bytes that are missing keep glibc's next block off the next
// page boundary: glibc stores 8 bytes before a block, rounds the sum up to 16
// bytes, and its least block takes 32 bytes.
#define SMALL_BYTES (MPROF_PAGE - 40)
// glibc maps memory for a large block, and unmaps it when the block is freed.
// The next blocks come from its heap if their requests are smaller than the
// mapping was. A request for an aligned block is larger than the mapping that
// the last one made, so a loop that allocates and frees a large block would map
// and unmap memory in each round. Therefore a request of at least this size
// asks for EXTRA bytes more.
static _Atomic size_t mapped_from = 128u << 10;
#define EXTRA ((size_t)2 * MPROF_PAGE)
// Minimum size in bytes of a block that mprof_place_resized_block cuts out.
#define MIN_CARVED (32u << 10)

void *mprof_place_block(size_t size, size_t align) {
  const int before = errno;
  void *p = NULL;
  const size_t from = atomic_load_explicit(&mapped_from, memory_order_relaxed);
  const size_t extra = mprof_place.is_glibc && size >= from ? EXTRA : 0;
  const size_t bytes = size < SMALL_BYTES ? SMALL_BYTES : size;
  if (bytes <= SIZE_MAX - extra &&
      NEXT(posix_memalign)(&p, align < MPROF_PAGE ? MPROF_PAGE : align,
                           bytes + extra) != 0)
    p = NULL;
  // With the extra bytes, the free of this mapping makes the next block of this
  // size come from the heap. Without them, the next request asks for them.
  if (p && mprof_place_is_mapping(p))
    atomic_store_explicit(&mapped_from, extra != 0 ? size + 1 : size,
                          memory_order_relaxed);
  errno = before;
  return p;
}

// glibc keeps smaller freed blocks in the thread's cache.
#define MIN_FRONT (MPROF_PAGE / 2)
// Distance from the last byte of a block of glibc, whose size is 8 more than a
// multiple of 16 bytes, to the first byte of the next one, and 8 bytes more.
#define OVERHEAD 16

// The smallest size of huge pages.
#if defined(__aarch64__)
#define HUGE_PAGE (64u << 10)
#else
#define HUGE_PAGE (2u << 20)
#endif

// Returns whether the mapping of a block may consist of huge pages, which the
// tunable glibc.malloc.hugetlb asks for. Some versions of glibc cannot shrink
// such a mapping.
static bool may_be_huge(const void *p) {
  // The words before the block: the number of unused bytes at the start of the
  // mapping, and the number of the other bytes with three flags.
  const size_t *words = p;
  return ((words[-2] + words[-1]) & ((size_t)HUGE_PAGE - 8)) == 0;
}

void mprof_place_free(void *p) {
  // If the program frees a mapping of at most 32 MB, glibc raises the threshold
  // from which it maps memory to the size of this mapping, for the whole
  // process. The program's large blocks then come from its heap, which returns
  // less memory to the system, and where a block that grows may have to be
  // copied, while a mapping moves without a copy. So shrink the mapping to one
  // page, which is below the threshold. realloc returns p if it cannot.
  const int before = errno;
  if (p && mprof_place_is_mapping(p) && !may_be_huge(p))
    p = NEXT(realloc)(p, 1);
  NEXT(free)(p);
  errno = before;
}

// posix_memalign cuts the block out of a larger one and frees the two ends. A
// small end stays in the thread's cache for ever, and behind the block, it
// keeps the block from being resized in place. So the block is cut out here,
// such that there is no end behind it, and a large one in front of it.
void *mprof_place_resized_block(size_t size) {
  if (!mprof_place.is_glibc || size < MIN_CARVED)
    return mprof_place_block(size, 1);
  const int before = errno;
  void *p = NULL;
  char *front = NEXT(malloc)(size + MPROF_PAGE + MIN_FRONT);
  if (front && !mprof_place_is_mapping(front)) {
    const uintptr_t least = (uintptr_t)front + MIN_FRONT;
    const uintptr_t page = (least + MPROF_PAGE - 1) & ~(MPROF_PAGE - 1ul);
    // Cut off the memory from the page boundary on. The next block begins there
    // if glibc has no smaller free block that is large enough.
    char *cut = NEXT(realloc)(front, page - (uintptr_t)front - OVERHEAD);
    front = cut ? cut : front;
    p = NEXT(malloc)(size);
    if (!MPROF_IS_ON_PAGE(p)) {
      mprof_place_free(p);
      p = NULL;
    }
  }
  mprof_place_free(front);
  errno = before;
  return p ? p : mprof_place_block(size, 1);
}

// Minimum size in bytes of a block for which mprof_place_is_zeroed looks for
// zeros. To clear a smaller block costs no more than this check.
#define MIN_ZEROED (64u << 10)

// A memory mapping is zero, unless M_PERTURB makes malloc fill blocks. The
// first word of the block shows whether malloc has filled the block. glibc's
// calloc also relies on the zeros.
bool mprof_place_is_zeroed(const void *p, size_t size) {
  return size >= MIN_ZEROED && mprof_place_is_mapping(p) &&
         *(const size_t *)p == 0;
}
