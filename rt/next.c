// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See next.h. What lies beneath an interceptor in the program is the function
// of that name in the next module: a preloaded allocator, one that the program
// is linked with, or libc's.

#include "intercept.h"

#include "base.h"
#include "init.h"
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#pragma weak dlsym

struct mprof_intercepted mprof_intercepted;

enum { UNKNOWN, LOOKING, FOUND };
static atomic_int state;

static bool is_own(const struct mprof_intercept *i) {
  return i->bound == i->own;
}

// Whether the program has left every function of a table to the runtime.
static bool is_whole(const struct mprof_intercept *table) {
  if (!table || !table->name)
    return false;
  for (const struct mprof_intercept *i = table; i->name; i++)
    if (!is_own(i))
      return false;
  return true;
}

static void set_words(const struct mprof_intercept *table) {
  if (!table)
    return;
  for (const struct mprof_intercept *i = table; i->name; i++) {
    if (!is_own(i))
      continue;
    void *beneath = i->plain;
    if (!beneath)
      beneath = dlsym ? dlsym(RTLD_NEXT, i->name) : NULL;
    if (beneath)
      *i->word = beneath;
  }
}

// A library that the program is linked with may replace the operators, and mix
// their blocks with those of its own calls, which are bound to its own: then
// they are everybody's. Those of C++ libraries and of the allocator beneath are
// malloc and free by other names.
static bool is_replacement(struct mprof_module m) {
  return m.id != 0 && m.id != mprof_module_of(__mprof_next_malloc).id &&
         strncmp(m.name, "libstdc++.so", 12) != 0 &&
         strncmp(m.name, "libc++.so", 9) != 0 &&
         strncmp(m.name, "libc++abi.so", 12) != 0;
}

static bool find_library_s(const struct mprof_intercept *table) {
  bool is_replaced = false;
  for (const struct mprof_intercept *i = table; i->name; i++) {
    void *f = dlsym ? dlsym(RTLD_NEXT, i->name) : NULL;
    is_replaced |= f && is_replacement(mprof_module_of(f));
  }
  for (const struct mprof_intercept *i = table; is_replaced && i->name; i++)
    *i->library = dlsym(RTLD_NEXT, i->name);
  return is_replaced;
}

MPROF_NOINLINE bool mprof_next_find(void) {
  int expected = UNKNOWN;
  if (mprof_likely(atomic_load_explicit(&state, memory_order_acquire) == FOUND))
    return true;
  if (!atomic_compare_exchange_strong(&state, &expected, LOOKING))
    return expected == FOUND;
  const int before = errno;
  set_words(mprof_intercept_c);
  mprof_intercepted.c = is_whole(mprof_intercept_c);
  mprof_intercepted.cxx = mprof_intercepted.c &&
                          is_whole(mprof_intercept_cxx) &&
                          !find_library_s(mprof_intercept_cxx);
  if (mprof_intercepted.cxx)
    set_words(mprof_intercept_cxx);
  errno = before;
  atomic_store(&state, FOUND);
  return true;
}

unsigned char mprof_intercept_is_on;

// The code of the allocator beneath, where it is neither libc's, whose other
// functions are callers like any, nor the program's. Written once at start.
static struct mprof_module allocator;

MPROF_NOINLINE bool mprof_intercept_counts(size_t size, const void *caller) {
  if (mprof_unlikely((uintptr_t)caller - allocator.start <
                     allocator.end - allocator.start)) {
    __mprof_heap_countdown =
        (int64_t)((uint64_t)__mprof_heap_countdown + (uint64_t)size);
    return false;
  }
  mprof_tls.is_foreign = true;
  return true;
}

void mprof_next_start(void) {
  if (mprof_intercepted.c && dlsym)
    allocator = mprof_module_of(__mprof_next_malloc);
  if (allocator.name[0] == '\0' || strncmp(allocator.name, "libc.so", 7) == 0)
    allocator.start = allocator.end = 0;
  __atomic_store_n(&mprof_intercept_is_on, mprof_intercepted.c,
                   __ATOMIC_RELEASE);
}
