// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries for shared libraries that have an allocator of their own: a malloc or
// operators that a version script, -Bsymbolic or visibility binds the library
// to, while the program's are others. Their blocks must not meet the program's
// allocator, which the words of next.h lead to. They are not counted, but for
// what the library's allocator takes from the program's.

#include "fastpath.h"
#include "init.h"
#include "next.h"
#include "sample.h"

#include <dlfcn.h>
#include <errno.h>

#pragma weak dlsym

// Each hooked function of the heap, as the program has it; NULL if it does not.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern char hooked_##Symbol[] __asm__(#Symbol) __attribute__((weak));
#include "mprof/hooks.def"
static const struct program_s {
  void *const *word;
  const char *name;
  void *address;
} program_s[] = {
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  {&__mprof_next_##Symbol, #Symbol, hooked_##Symbol},
#include "mprof/hooks.def"
};

static const struct program_s *find(void *const *word) {
  for (size_t i = 0; i < sizeof(program_s) / sizeof(program_s[0]); i++)
    if (program_s[i].word == word)
      return &program_s[i];
  return NULL;
}

// Whether a library is bound to a function that is not the program's.
static bool is_private(const struct __mprof_module_hook *h) {
  const struct program_s *p = find(h->word);
  if (!p || h->own == NULL || h->own == p->address)
    return false;
  // What lies beneath may be of a library that the program is linked with, and
  // the linker may have given a function another address in the program.
  mprof_next_find();
  if (h->own == *h->word || (dlsym && h->own == dlsym(RTLD_DEFAULT, p->name)))
    return false;
  // The first library in C++ that a program in C opens brings the operators.
  return p->address != NULL ||
         mprof_module_of(h->own).id == mprof_module_of((void *)h).id;
}

MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *hook) {
  const int before = errno;
  if (is_private(hook)) {
    hook->word = &hook->own;
    hook->entry = hook->own_entry;
  }
  errno = before;
}

MPROF_ENTRY void __mprof_drop_sample(size_t size) {
  uint64_t rate;
  mprof_sample_hit(size, &rate);
}
