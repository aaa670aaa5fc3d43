// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds functions in libraries that the program opens at run time; see libc.h.

#include "sys/libc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

// These references are weak, because static programs do not have these
// functions and open no libraries.
#pragma weak dladdr
#pragma weak dlsym
#pragma weak dlclose

// The type of dlopen. The runtime finds dlopen with dlsym, because even a weak
// reference to dlopen makes the linker gold print a warning for static
// programs.
typedef void *open_fn(const char *file, int mode);

// Values of mprof_found.when. NEVER: no function was found yet. BUSY: a thread
// is writing the result. Any other value is FOUND_FIRST plus the number of
// unloads that had been reported when the search began.
//
// The result is valid until the next unload is reported. An unload of the
// library that defines the function is always reported, because it also unloads
// the library that calls the function. The calling library depends on the
// defining library. The calling library was compiled with MProf, so its last
// destructor reports the unload.
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
  // Searches the caller's own library and its dependencies. A search in all
  // libraries would not find the function if the caller's library was opened
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

// Stores f, the result of a search, in the cache *found. seen: the value of
// found->when before the search. now: the new value of found->when. Stores
// nothing if another thread has stored a result since the search began, or is
// storing a result now. So only one thread writes at a time. If found->when has
// the current number of unloads, then found->function was found after the last
// unload.
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

// --- libgcc_s ---

typedef int personality_fn(int version, int actions, uint64_t class,
                           void *exception, void *context);

extern personality_fn __gcc_personality_v0 __attribute__((weak));
extern void _Unwind_Resume(void *exception) __attribute__((weak));

// Returns the function `symbol` of libgcc_s, if a library has loaded libgcc_s
// after the program's start.
static void *find(const char *symbol) {
  open_fn *open_library =
      dlsym ? (open_fn *)dlsym(RTLD_DEFAULT, "dlopen") : NULL;
  void *handle = open_library
                     ? open_library("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD)
                     : NULL;
  void *function = handle ? dlsym(handle, symbol) : NULL;
  if (handle && dlclose)
    dlclose(handle);
  return function;
}

int mprof_gcc_personality(int version, int actions, uint64_t class,
                          void *exception, void *context) {
  enum { CONTINUE_UNWIND = 8 };
  personality_fn *real = __gcc_personality_v0;
  if (!real)
    real = (personality_fn *)find("__gcc_personality_v0");
  return real ? real(version, actions, class, exception, context)
              : CONTINUE_UNWIND;
}

// Only code to which libgcc_s has jumped calls this function, so libgcc_s is
// loaded.
void mprof_unwind_resume(void *exception) {
  void (*real)(void *) = _Unwind_Resume;
  if (!real)
    real = (void (*)(void *))find("_Unwind_Resume");
  // libgcc_s must find the caller's frame.
  __attribute__((musttail)) return real(exception);
}
