// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds functions of other libraries when they are first called: the real
// definitions of hooked functions that are not in libc, such as
// operator new. The runtime's entries have weak references to these functions.
// If a program opens its first C++ library at run time, the loader cannot bind
// these references at start, and they are NULL. In this case the runtime asks
// the loader for a function when the function is first called.

#ifndef MPROF_RT_SYS_RESOLVE_LATE_H
#define MPROF_RT_SYS_RESOLVE_LATE_H

#include "sys/base.h"

#include <stdint.h>

// The cached result of a search.
struct mprof_found {
  // The number of unloads that had been reported when the search began, or a
  // special value; see resolve_late.c.
  _Atomic uint64_t when;
  _Atomic(void *) function;
};

// Evaluates to the address of the function f. If f did not exist when the
// program started, evaluates to the f that the calling library uses. Use this
// macro in an entry, that is, in the runtime's function that the program calls
// in place of f.
#define REAL(f) REAL_(f)
#define REAL_(f)                                                               \
  ({                                                                           \
    __typeof__(&f) real_ = f;                                                  \
    mprof_unlikely(!real_) ? LATE(f) : real_;                                  \
  })

// Evaluates to the f that the calling library uses, or to NULL. Use this macro
// in an entry.
#define LATE(f)                                                                \
  ({                                                                           \
    static struct mprof_found found_;                                          \
    (__typeof__(&f))mprof_resolve_late(#f, &found_,                            \
                                       __builtin_return_address(0));           \
  })

// Calls the function f with the arguments Args, like REAL(f) Args, but f costs
// nothing at start. A test of f's address would make the dynamic linker look up
// f at the start of each program. A direct call does not, because the linker
// binds it when it is first made. So this macro tests the address of First,
// another function of the same library that every user of f also has.
#define CALL_REAL(First, f, Args)                                              \
  (mprof_likely(&First != NULL) ? f Args : LATE(f) Args)

// Asks the loader for the function named `symbol`. Called if the runtime's weak
// reference to this function is NULL. caller: an address in the library that
// calls the function. The result is cached in *found until a library is
// unloaded, because the unload may remove the function. Takes no lock except
// the loader's. Does not change errno. Returns NULL if there is no such
// function.
void *mprof_resolve_late(const char *symbol, struct mprof_found *found,
                         void *caller);

// Returns the number of mprof_resolve_forget calls, that is, of reported
// unloads.
uint64_t mprof_resolve_unloads(void);
// Makes the cached results invalid. Called before or after a library is
// unloaded. Signal safe.
void mprof_resolve_forget(void);

// --- libgcc_s ---

// Lets code with cleanups do without a reference to libgcc_s. A function with
// the attribute cleanup refers to the functions __gcc_personality_v0 and
// _Unwind_Resume, which libgcc_s calls or defines. Because of such a reference,
// each C program would load libgcc_s at its start. But an exception can only
// pass through the function after C++ code has loaded libgcc_s.
//
// A file with such a function has the line MPROF_WITHOUT_LIBGCC_S;. The runtime
// is compiled with -fno-addrsig, because address-significance tables would
// still name the two functions.

int mprof_gcc_personality(int version, int actions, uint64_t class,
                          void *exception, void *context);
void mprof_unwind_resume(void *exception);

// Makes both names mean the functions above in this file.
#define MPROF_WITHOUT_LIBGCC_S                                                 \
  __asm__(".set __gcc_personality_v0, mprof_gcc_personality\n"                 \
          ".set _Unwind_Resume, mprof_unwind_resume")

#endif // MPROF_RT_SYS_RESOLVE_LATE_H
