// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds hooked functions that came with a library opened at run time; see
// resolve_late.h.

#include "sys/resolve_late.h"

#include <dlfcn.h>
#include <errno.h>

// Weak, because static programs lack these functions; they open no libraries.
#pragma weak dladdr
#pragma weak dlsym
#pragma weak dlclose

// dlopen is found by dlsym. Even a weak reference to it makes gold warn in
// static programs.
typedef void *open_fn(const char *file, int mode);

// Values of mprof_found.when. From FOUND_FIRST on, the value is FOUND_FIRST
// plus the number of unloads seen when the search began. No unload of the
// function's library is missed: the caller's library is linked with it and was
// compiled with MProf, so the last destructor of the caller's library reports
// the unload.
enum { NEVER, BUSY, FOUND_FIRST };
static _Atomic uint64_t unloads;

void mprof_resolve_forget(void) { atomic_fetch_add(&unloads, 1); }
uint64_t mprof_resolve_unloads(void) { return atomic_load(&unloads); }

static void *look_up(const char *symbol, void *caller) {
  if (!dladdr || !dlsym || !dlclose)
    return NULL;
  const int before = errno;
  void *f = NULL;
  open_fn *open_library = (open_fn *)dlsym(RTLD_DEFAULT, "dlopen");
  Dl_info library;
  // Searches the scope of the caller's own library, which may have been opened
  // with RTLD_LOCAL.
  void *handle = open_library && dladdr(caller, &library)
                     ? open_library(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                     : NULL;
  if (handle) {
    f = dlsym(handle, symbol);
    dlclose(handle);
  }
  errno = before;
  return f;
}

// Stores a result in the cache. Only one thread writes at a time. A thread does
// not write if another thread has stored a result since its own search began;
// it just uses the function that it found. So a function that is read together
// with the current number of unloads was found after the last unload.
static void keep(struct mprof_found *found, uint64_t seen, uint64_t now,
                 void *f) {
  if (seen == BUSY ||
      !atomic_compare_exchange_strong(&found->when, &seen, BUSY))
    return;
  atomic_store_explicit(&found->function, f, memory_order_release);
  atomic_store_explicit(&found->when, now, memory_order_release);
}

MPROF_NOINLINE void *mprof_resolve_late(const char *symbol,
                                        struct mprof_found *found,
                                        void *caller) {
  const uint64_t now = atomic_load(&unloads) + FOUND_FIRST;
  const uint64_t seen =
      atomic_load_explicit(&found->when, memory_order_acquire);
  if (mprof_likely(seen == now))
    return atomic_load_explicit(&found->function, memory_order_acquire);
  void *f = look_up(symbol, caller);
  if (f)
    keep(found, seen, now, f);
  return f;
}
