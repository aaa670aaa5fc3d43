// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes the calls of two functions of libgcc_s on; see unwinder.h.

#include "sys/unwinder.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#pragma weak dlsym
#pragma weak dlclose

typedef void *open_fn(const char *file, int mode);
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
