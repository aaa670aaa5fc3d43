// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of the hooked functions. In the profiles of waits, the leaf of each
// stack is a hooked function, such as pthread_mutex_lock. The hooked functions
// are in libc. A libc that is stripped or linked statically may have no symbol
// names, so the symbolizer may not find the names. Therefore hooks.def provides
// the names. Only the names of mangled functions come from the symbolizer,
// because the symbolizer demangles them.
//
// This file declares the hooked functions as char arrays, because it uses only
// their addresses. So it must not include a header that declares them as
// functions.

#include "lock_wait/hook_names.h"

#include "lock_wait/block_kinds.h"

// The symbols are weak, so that a program is linked only with the libc
// functions that it uses. The address of any other function is NULL.
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  extern char Symbol[] __attribute__((weak, visibility("default")));
#define MPROF_WAIT(Symbol, Proto, Kind)                                        \
  extern char Symbol[] __attribute__((weak, visibility("default")));
#define MPROF_CREATE(Symbol, Proto)                                            \
  extern char Symbol[] __attribute__((weak, visibility("default")));
#include "mprof/hooks.def"

#define IS_MANGLED(Symbol) (#Symbol[0] == '_' && #Symbol[1] == 'Z')
// Two functions may have the same address, such as a function and its 64-bit
// variant. In this case the name that comes first in hooks.def is returned.
#define RETURN_IF(Symbol)                                                      \
  if (!IS_MANGLED(Symbol) && op == (uintptr_t)(Symbol))                        \
    return #Symbol;

// The code below compares op with one address after another. It reads each
// address from the global offset table. An initialized array of addresses is
// not used. With such an array, the linker may use a PLT entry of the program
// as the address of a libc function. All modules of the process would then use
// this address.
static const char *name_of(uintptr_t op) {
#define MPROF_RELEASE(Symbol, Proto, Object) RETURN_IF(Symbol)
#define MPROF_WAIT(Symbol, Proto, Kind) RETURN_IF(Symbol)
#define MPROF_CREATE(Symbol, Proto) RETURN_IF(Symbol)
#include "mprof/hooks.def"
  if (op == (uintptr_t)mprof_lost_contended_runtime_lock)
    return "mprof::_LostContendedRuntimeLock";
  return NULL;
}

const char *mprof_hooked_name(mprof_pc pc) {
  return pc < 2 ? NULL : name_of(pc - mprof_op_pc(0));
}

// --- hooked functions by address ---

#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  extern char __mprof_##Symbol[] __attribute__((weak));
#define MPROF_WAIT(Symbol, Proto, Kind)                                        \
  extern char __mprof_##Symbol[] __attribute__((weak));
#include "mprof/hooks.def"

bool mprof_hook_at(uintptr_t fn, struct mprof_hook *hook) {
  if (fn == 0)
    return false;
#define SET_IF(Symbol, Kind)                                                   \
  if (MPROF_KIND_##Kind != MPROF_KIND_try &&                                   \
      (fn == (uintptr_t)(Symbol) || fn == (uintptr_t)(__mprof_##Symbol))) {    \
    *hook = (struct mprof_hook){(uintptr_t)(Symbol), MPROF_KIND_##Kind};       \
    return true;                                                               \
  }
#define MPROF_WAIT(Symbol, Proto, Kind) SET_IF(Symbol, Kind)
#include "mprof/hooks.def"
  return false;
}

uintptr_t mprof_hook_function(uintptr_t entry) {
#define FUNCTION_IF(Symbol)                                                    \
  if (entry == (uintptr_t)(__mprof_##Symbol))                                  \
    return (uintptr_t)(Symbol);
#define MPROF_RELEASE(Symbol, Proto, Object) FUNCTION_IF(Symbol)
#define MPROF_WAIT(Symbol, Proto, Kind) FUNCTION_IF(Symbol)
#include "mprof/hooks.def"
  return 0;
}

// A pseudo function that is never called. The mutex profile shows it in place
// of a stack that the runtime has dropped. Linkers merge functions with equal
// code, which would give two functions the same address. So this function has
// code that no other function has.
MPROF_NOINLINE void mprof_lost_contended_runtime_lock(void) {
  __asm__ volatile("nop\n\tnop\n\tnop");
}

const char *mprof_kind_name(enum mprof_kind kind) {
  static const char *const names[] = {
#define MPROF_KIND(Name, Group) #Name,
#include "mprof/hooks.def"
  };
  if (kind == MPROF_KIND_own)
    return "mprof";
  return (unsigned)kind < MPROF_KIND_COUNT ? names[kind] : "";
}
