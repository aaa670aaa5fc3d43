// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The start of libmprof_preload.so, the runtime for programs that were built
// without MProf. The dynamic linker loads the library before the program's
// libraries, because LD_PRELOAD names it. Its definitions of malloc
// (entry/intercept_heap.c), pthread_mutex_lock and others (calls.c) replace
// those of libc.
//
// If the program itself was built with MProf, the program has the runtime, and
// this copy only passes calls on (init.c, is_first_copy).

#include "entry/entry_thread.h"
#include "helper/helper_environment.h"
#include "options/flags.h"
#include "preload/calls.h"
#include "preload/operators.h"
#include "process/process.h"
#include "sys/base.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// --- withdrawn definitions ---

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

// Takes back definitions of libmprof_preload.so that have no next definition in
// another library: the operators of C++ in a C program, the functions of
// liburing, and functions that this libc does not have. So libraries that the
// program opens later find the definitions that they would find without this
// library, and so does a program that tests whether a function exists. The
// dynamic linker passes over symbols without a value. Called after the next
// definitions have been looked up. Keeps errno.
static void withdraw(void) {
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

// --- children ---

// Removes the library from LD_PRELOAD, and also the variable if it was the only
// library. Changes the list and the array of variables in place, because the
// memory of the environment is part of the program's stack, and because main
// may get the array as an argument.
static void leave_children_alone(void) {
  static const char name[] = "LD_PRELOAD=";
  char **to = environ;
  for (char **e = environ; e && *e; e++) {
    if (strncmp(*e, name, sizeof(name) - 1) == 0 &&
        !mprof_preload_list_clean(*e + sizeof(name) - 1))
      continue;
    *to++ = *e;
  }
  if (to)
    *to = NULL;
}

// Returns whether children are profiled, too. The runtime's own constructor
// comes before at_load in the library, so the options are known. But the
// library's copy of the runtime has read none if the program has a runtime of
// its own. It reads them then without messages, because it has prepared none.
static bool follows_children(void) {
  if (mprof_init_is_inert())
    mprof_flags_init();
  return mprof_flags.follow_fork;
}

// --- start ---

__attribute__((constructor(101))) static void at_load(void) {
  mprof_preload_calls_init();
  mprof_preload_operators_init();
  withdraw();
  mprof_entry_thread_sees_library();
  if (!follows_children())
    leave_children_alone();
}
