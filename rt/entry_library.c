// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries for shared libraries that have an allocator of their own: a malloc or
// operators that a version script, -Bsymbolic or visibility binds the library
// to, while the program's are others. Their blocks must not meet the program's
// allocator, which the words of next.h lead to. They are not counted, but for
// what the library's allocator takes from the program's.

#include "entry_library.h"

#include "abi_words.h"
#include "next.h"
#include "real.h"
#include "sample.h"

// Each hooked function of the heap, as the program has it. Where it has none,
// as a program in C has no operators, the first library's that calls one is
// taken for it, until something was unloaded.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern char hooked_##Symbol[] __asm__(#Symbol) __attribute__((weak));
#include "mprof/hooks.def"
static struct program_s {
  void *const *word;
  void *address;
  _Atomic(void *) first; // where address is NULL; NULL: nobody has called yet
  _Atomic uint64_t unloads; // at that time
} program_s[] = {
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  {.word = &__mprof_next_##Symbol, .address = hooked_##Symbol},
#include "mprof/hooks.def"
};

static struct program_s *find(void *const *word) {
  for (size_t i = 0; i < sizeof(program_s) / sizeof(program_s[0]); i++)
    if (program_s[i].word == word)
      return &program_s[i];
  return NULL;
}

static bool is_first(struct program_s *p, void *own) {
  void *first = NULL;
  const uint64_t unloads = mprof_real_unloads();
  if (atomic_load(&p->unloads) != unloads) {
    atomic_store(&p->unloads, unloads);
    atomic_store(&p->first, own);
  }
  return atomic_compare_exchange_strong(&p->first, &first, own) || first == own;
}

// Whether a library is bound to a function that is not the program's. Asks no
// loader once the runtime has started: this may be the library's first malloc,
// anywhere.
static bool is_private(const struct __mprof_module_hook *h) {
  struct program_s *p = find(h->program_s_word);
  if (!p || h->own == NULL || h->own == p->address ||
      (p->address == NULL && is_first(p, h->own)))
    return false;
  // What lies beneath may be of a library that the program is linked with.
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
