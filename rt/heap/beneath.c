// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the allocator beneath the runtime's interceptors; see beneath.h. The
// loader searches modules in a fixed order. For each heap function, this file
// uses the definition in the first module after the interceptors that defines
// the function. This module is a preloaded allocator, an allocator that the
// program is linked with, or libc.

#include "heap/beneath.h"

#include "heap/event.h"
#include "process/modules.h"
#include "sys/abi_words.h"
#include "unwind/rules.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#pragma weak dlsym

#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern char hooked_##Symbol[] __asm__(#Symbol) __attribute__((weak));
#include "mprof/hooks.def"
char *const mprof_heap_functions[] = {
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr) hooked_##Symbol,
#include "mprof/hooks.def"
};

struct mprof_intercepted mprof_intercepted;

enum { UNKNOWN, LOOKING, FOUND };
static atomic_int state;

// Returns whether the address f of the function `name` is that of the stub
// through which the program calls the function. If a program that is not
// position-independent uses the address of a function of a library, the linker
// makes the stub's address the function's address for all modules. The
// program's symbol table then has the symbol with this address, but as
// undefined.
static bool is_stub(void *f, const char *name) {
#ifdef __GLIBC__
  Dl_info info;
  const ElfW(Sym) *symbol = NULL;
  // Found by name, because the dynamic linker would look up a reference to it
  // at the start of each program.
  int (*const find)(const void *, Dl_info *, void **, int) =
      dlsym ? dlsym(RTLD_DEFAULT, "dladdr1") : NULL;
  return find && find(f, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 &&
         symbol != NULL && symbol->st_shndx == SHN_UNDEF &&
         info.dli_sname != NULL && strcmp(info.dli_sname, name) == 0;
#else
  (void)f;
  (void)name;
  return false;
#endif
}

bool mprof_next_is_own(const struct mprof_intercept *i) {
  return mprof_next_late || i->bound == i->own ||
         mprof_is_entry((uintptr_t)i->bound) || is_stub(i->bound, i->name);
}

// In code, gold would not make the address NULL.
static const char *const volatile linked = &mprof_intercept_is_linked;

bool mprof_next_is_linked(void) { return linked != NULL; }

// Returns whether the entry is used in this program.
static bool is_used(const struct mprof_intercept *table,
                    const struct mprof_intercept *i) {
  return i->plain || !table->plain;
}

// Returns whether the program's calls of all functions in the table reach the
// interceptors. If not, the program itself defines one of these functions.
static bool is_whole(const struct mprof_intercept *table) {
  if (!table || !table->name)
    return false;
  for (const struct mprof_intercept *i = table; i->name; i++)
    if (is_used(table, i) && !mprof_next_is_own(i))
      return false;
  return true;
}

static void set_words(const struct mprof_intercept *table) {
  if (!table)
    return;
  for (const struct mprof_intercept *i = table; i->name; i++) {
    const bool is_of_program = !mprof_next_is_own(i);
    void *beneath = i->plain;
    if (!is_used(table, i) || (is_of_program && !i->next))
      continue;
    if (!beneath)
      beneath = mprof_next_definition(i->name);
    if (i->next && beneath)
      *i->next = beneath;
    if (is_of_program)
      continue;
    if (beneath)
      *i->word = beneath;
    // No other definition of the function was found, and the variable
    // __mprof_next_<function> holds the address of the interceptor. The
    // variable is cleared, because the interceptor must not call itself. In a
    // static program this happens only if nothing calls the function: only then
    // does libmprof_intercept.ld bind the function to the interceptor.
    else if (*i->word == i->bound)
      *i->word = NULL;
  }
}

// Returns whether m is a library that replaces the C++ operators for the
// program. Such a library calls its own operators directly, and may pass them
// blocks that the program has allocated. So the library's operators must serve
// the whole program. Neither a C++ runtime library nor the allocator beneath
// the interceptors is a replacement, because its operators only forward to
// malloc and free.
static bool is_replacement(struct mprof_module m) {
  return m.id != 0 && m.id != mprof_module_of(__mprof_next_malloc).id &&
         !mprof_module_is_cxx_library(&m);
}

static bool find_library_s(const struct mprof_intercept *table) {
  bool is_replaced = false;
  for (const struct mprof_intercept *i = table; i->name; i++) {
    void *f = mprof_next_definition(i->name);
    if (i->next)
      *i->library = f;
    is_replaced |= f && is_replacement(mprof_module_of(f));
  }
  for (const struct mprof_intercept *i = table; is_replaced && i->name; i++)
    *i->library = mprof_next_definition(i->name);
  return is_replaced;
}

MPROF_NOINLINE bool mprof_next_find(void) {
  int expected = UNKNOWN;
  if (mprof_likely(atomic_load_explicit(&state, memory_order_acquire) == FOUND))
    return true;
  if (!atomic_compare_exchange_strong(&state, &expected, LOOKING))
    return expected == FOUND;
  const int before = errno;
  const struct mprof_intercept *const table =
      mprof_next_is_linked() ? mprof_intercept_c : NULL;
  mprof_intercepted.c = is_whole(table);
  // A runtime that was loaded later sees the operators' calls of malloc.
  const bool is_cxx_whole =
      mprof_intercepted.c && !mprof_next_late && is_whole(mprof_intercept_cxx);
  // This search comes first. If it finds nothing, the loader allocates memory
  // for a message, and must not call the allocator for it.
  const bool has_library =
      is_cxx_whole && mprof_next_definition(mprof_intercept_cxx->name) != NULL;
  set_words(table);
  if (table) // has set __mprof_sized_strdup to our function
    __mprof_copy_malloc = __mprof_next_malloc;
  if (__mprof_free_mask != 0) // 0: another copy of the runtime counts all frees
    __mprof_free_off_page = __mprof_next_free;
  mprof_intercepted.cxx =
      is_cxx_whole && !(has_library && find_library_s(mprof_intercept_cxx));
  if (mprof_intercepted.cxx)
    set_words(mprof_intercept_cxx);
  errno = before;
  atomic_store(&state, FOUND);
  return true;
}

struct mprof_intercept_is_on mprof_intercept_is_on;

// The code ranges of the allocator beneath the interceptors. A block that this
// code allocates is not counted, because it is part of another block. The
// ranges are written once, at start.
// - If the allocator is a library of its own, the only range is the whole
//   library.
// - If the allocator is libc, there is no range, because libc's other functions
//   are ordinary callers.
// - In a static program, the ranges are the allocator's functions that may call
//   malloc.
#define OWN_CODE 4
static struct mprof_code_range own_code[OWN_CODE];

static bool is_own_code(const void *caller) {
  for (size_t i = 0; i < OWN_CODE; i++)
    if ((uintptr_t)caller - own_code[i].begin <
        own_code[i].end - own_code[i].begin)
      return true;
  return false;
}

MPROF_NOINLINE bool mprof_intercept_counts(size_t size, const void *caller) {
  // An entry is the caller if the allocator's function, which the entry has
  // called, ends with a jump to the interceptor.
  if (mprof_unlikely(is_own_code(caller) ||
                     mprof_is_entry((uintptr_t)caller))) {
    // Drop the sample if a sample is due on this block. If the sample stayed
    // due, the next block would be counted instead.
    mprof_sample_hit(size, &(uint64_t){0});
    return false;
  }
  return true;
}

static void find_own_code(void) {
  if (!mprof_intercepted.c)
    return;
  if (mprof_intercept_c->plain) { // only in a static program
    void *const functions[OWN_CODE] = {
        __mprof_next_calloc, __mprof_next_realloc, __mprof_next_posix_memalign,
        __mprof_next_aligned_alloc};
    for (size_t i = 0; i < OWN_CODE; i++)
      if (functions[i])
        own_code[i] = mprof_eh_function((uintptr_t)functions[i]);
    return;
  }
  struct mprof_module m = mprof_module_of(__mprof_next_malloc);
  if (m.name[0] != '\0' && strncmp(m.name, "libc.so", 7) != 0)
    own_code[0] = (struct mprof_code_range){m.start, m.end};
}

void mprof_next_start(void) {
  find_own_code();
  __atomic_store_n(&mprof_intercept_is_on.c, mprof_intercepted.c,
                   __ATOMIC_RELEASE);
  __atomic_store_n(&mprof_intercept_is_on.cxx, mprof_intercepted.cxx,
                   __ATOMIC_RELEASE);
}
