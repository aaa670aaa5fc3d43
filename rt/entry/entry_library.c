// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries for shared libraries with a private allocator. A version script, the
// linker option -Bsymbolic or hidden visibility can bind a library to its own
// malloc or C++ operators. Blocks of such a library must not be passed to the
// program's allocator, which is the target of the pointers __mprof_next_*
// (beneath.h). These blocks are not counted. If the private allocator takes its
// memory from the program's allocator, that memory is counted.

#include "heap/beneath.h"
#include "heap/sample.h"
#include "sys/abi_words.h"
#include "sys/resolve_late.h"

// The hook of one heap function in the code of a shared library; hooks.def
// explains the fields.
struct __mprof_module_hook {
#define MPROF_MODULE_HOOK_FIELD(Type, Name) Type Name;
#include "mprof/hooks.def"
};
// Binds a hook to the program's function or to the library's own function.
MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *hook);
// Called before the allocation of a block that is not counted. size: bytes of
// the block, which the call site has subtracted from the sampling countdown. If
// the countdown has run out, draws a new countdown, so that this sample is
// lost. With the old countdown, a later block would be counted in place of this
// block.
MPROF_ENTRY void __mprof_drop_sample(size_t size);

// The hooked heap functions, in the order of mprof_heap_functions.
static void *const *const words[] = {
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  &__mprof_next_##Symbol,
#include "mprof/hooks.def"
};
enum { FUNCTIONS = sizeof(words) / sizeof(words[0]) };

// A program may have no definition of a function: a C program has no C++
// operators. In this case, the definition that the first calling library uses
// counts as the program's definition. This choice ends when any library is
// unloaded.
static struct program_s {
  // The definition that the first calling library uses. NULL: no library has
  // called the function.
  _Atomic(void *) first;
  _Atomic uint64_t unloads; // number of library unloads when `first` was set
} program_s[FUNCTIONS];

// Returns the number of the function of a word, or -1.
static int find(void *const *word) {
  for (int i = 0; i < FUNCTIONS; i++)
    if (words[i] == word)
      return i;
  return -1;
}

static bool is_first(struct program_s *p, void *own) {
  void *first = NULL;
  const uint64_t unloads = mprof_resolve_unloads();
  if (atomic_load(&p->unloads) != unloads) {
    atomic_store(&p->unloads, unloads);
    atomic_store(&p->first, own);
  }
  return atomic_compare_exchange_strong(&p->first, &first, own) || first == own;
}

// Returns whether the library uses a definition of a hooked function that is
// not the program's definition. h describes the library and the function. After
// the runtime has started, is_private does not call the loader, because it may
// be called in any context, such as a signal handler.
static bool is_private(const struct __mprof_module_hook *h) {
  const int number = find(h->program_s_word);
  if (number < 0 || h->own == NULL)
    return false;
  void *address = mprof_heap_functions[number];
  if (h->own == address ||
      (address == NULL && is_first(&program_s[number], h->own)))
    return false;
  // If the runtime intercepts the hooked function, `address` is the
  // interceptor's address, and *program_s_word holds the address of the
  // function that the interceptor calls. If h->own is that function, the
  // library uses the program's allocator.
  mprof_next_find();
  return h->own != *h->program_s_word;
}

MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *h) {
  bool is_own = is_private(h);
  __atomic_store_n(&h->word, is_own ? &h->own : h->program_s_word,
                   __ATOMIC_RELEASE);
  __atomic_store_n(&h->entry, is_own ? h->own_entry : h->program_s_entry,
                   __ATOMIC_RELEASE);
}

MPROF_ENTRY void __mprof_drop_sample(size_t size) {
  uint64_t rate;
  mprof_sample_hit(size, &rate);
}
