// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes back definitions of libmprof_preload.so; see withdraw.h. The dynamic
// linker passes over symbols without a value.

#include "preload/withdraw.h"

#include "preload/calls.h"
#include "preload/operators.h"
#include "sys/base.h"

#include <errno.h>
#include <link.h>
#include <sys/mman.h>

// Returns the address to which an entry of the dynamic section refers, or 0.
static uintptr_t address_of(ElfW(Sxword) tag) {
  for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++)
    if (d->d_tag == tag)
      return d->d_un.d_ptr;
  return 0;
}

static bool set_protection(ElfW(Sym) * begin, ElfW(Sym) * end, int protection) {
  const uintptr_t first = (uintptr_t)begin & ~(uintptr_t)(MPROF_PAGE - 1);
  return mprotect((void *)first, (uintptr_t)end - first, protection) == 0;
}

static bool is_missing(const ElfW(Sym) * symbol) {
  extern const char __ehdr_start[] MPROF_HIDDEN; // where the library begins
  const void *const code = __ehdr_start + symbol->st_value;
  return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
         symbol->st_shndx != SHN_UNDEF &&
         (mprof_preload_operators_is_missing(code) ||
          mprof_preload_calls_is_missing(code));
}

void mprof_preload_withdraw(void) {
  ElfW(Sym) *begin = (ElfW(Sym) *)address_of(DT_SYMTAB);
  // The hash table begins with the numbers of its buckets and of the symbols.
  const uint32_t *const table = (const uint32_t *)address_of(DT_HASH);
  if (!begin || !table)
    return;
  ElfW(Sym) *end = begin + table[1];
  while (begin < end && !is_missing(begin))
    begin++;
  while (begin < end && !is_missing(end - 1))
    end--;
  const int before = errno;
  if (begin < end && set_protection(begin, end, PROT_READ | PROT_WRITE)) {
    for (ElfW(Sym) *s = begin; s < end; s++)
      if (is_missing(s)) {
        s->st_value = 0;
        s->st_shndx = SHN_UNDEF;
      }
    set_protection(begin, end, PROT_READ);
  }
  errno = before;
}
