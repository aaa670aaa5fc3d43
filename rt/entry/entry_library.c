// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries for shared libraries with a private allocator. A version script,
// -Bsymbolic or visibility can bind a library to a malloc or to operators of
// its own. A block of such a library must not be passed to the program's
// allocator, to which the pointers __mprof_next_* of beneath.h lead. These
// blocks are not counted. Memory that the private allocator itself takes from
// the program's allocator is counted.

#include "entry/entry_library.h"

#include "heap/beneath.h"
#include "heap/sample.h"
#include "sys/abi_words.h"
#include "sys/resolve_late.h"

// The program's version of each hooked heap function. A program may lack a
// function: a C program has no operators. The first library that calls such a
// function then determines the program's version, until a library is unloaded.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern char hooked_##Symbol[] __asm__(#Symbol) __attribute__((weak));
#include "mprof/hooks.def"
static struct program_s {
  void *const *word;
  void *address;
  // If address is NULL: function of the first library that called. NULL: none.
  _Atomic(void *) first;
  _Atomic uint64_t unloads; // number of unloads when first was set
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
  const uint64_t unloads = mprof_resolve_unloads();
  if (atomic_load(&p->unloads) != unloads) {
    atomic_store(&p->unloads, unloads);
    atomic_store(&p->first, own);
  }
  return atomic_compare_exchange_strong(&p->first, &first, own) || first == own;
}

// Returns whether the library is bound to a function that is not the program's.
// Once the runtime has started, does not call the loader, because this may be
// the library's first malloc, in any context.
static bool is_private(const struct __mprof_module_hook *h) {
  struct program_s *p = find(h->program_s_word);
  if (!p || h->own == NULL || h->own == p->address ||
      (p->address == NULL && is_first(p, h->own)))
    return false;
  // The program's allocator may belong to a library that the program is linked
  // with. Then *program_s_word holds the address in that library, which differs
  // from p->address.
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
