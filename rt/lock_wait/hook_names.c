// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of the hooked functions. In the profiles of waits, the leaf of each
// stack is a hooked function, such as pthread_mutex_lock. The hooked functions
// are in libc. A libc that is stripped or linked statically may have no symbol
// names, so the symbolizer may not find the names. Therefore hooks.def provides
// the names. Only the names of mangled functions come from the symbolizer,
// because the symbolizer demangles them.

#include "lock_wait/hook_names.h"

#include "lock_wait/block_kinds.h"
#include "lock_wait/hooked.h"

// Functions that create threads. They are weak, so that a program is linked
// only with the libc functions that it uses. They are declared as arrays,
// because only their addresses are used. So this file must not include a header
// that declares them as functions.
#define MPROF_CREATE(Symbol, Proto)                                            \
  extern char Symbol[] __attribute__((weak, visibility("default")));
#include "mprof/hooks.def"

static bool is_mangled(const char *symbol) {
  return symbol[0] == '_' && symbol[1] == 'Z';
}

static const char *symbol_of(uintptr_t op) {
  const int number = mprof_hooked_at(op);
  if (number >= 0)
    return mprof_hooked_symbol(number);
#define MPROF_CREATE(Symbol, Proto)                                            \
  if (op == (uintptr_t)(Symbol))                                               \
    return #Symbol;
#include "mprof/hooks.def"
  return NULL;
}

static const char *name_of(uintptr_t op) {
  const char *symbol = symbol_of(op);
  if (symbol != NULL)
    return is_mangled(symbol) ? NULL : symbol;
  if (op == (uintptr_t)mprof_lost_contended_runtime_lock)
    return "mprof::_LostContendedRuntimeLock";
  return NULL;
}

const char *mprof_hooked_name(mprof_pc pc) {
  return pc < 2 ? NULL : name_of(pc - mprof_op_pc(0));
}

// --- hooked functions by address ---

bool mprof_hook_at(uintptr_t fn, struct mprof_hook *hook) {
  // The kinds of the functions. A release waits as little as a try.
  static const uint8_t kinds[] = {
#define MPROF_RELEASE(Symbol, Proto, Object) MPROF_KIND_try,
#define MPROF_WAIT(Symbol, Proto, Kind) MPROF_KIND_##Kind,
#include "mprof/hooks.def"
  };
  if (fn == 0)
    return false;
  int number = mprof_hooked_at(fn);
  if (number < 0)
    number = mprof_hooked_of_entry(fn);
  if (number < 0 || kinds[number] == MPROF_KIND_try)
    return false;
  *hook = (struct mprof_hook){(uintptr_t)mprof_hooked_functions[number],
                              kinds[number]};
  return true;
}

// A pseudo function that is never called. The mutex profile shows it in place
// of a stack that the runtime has dropped. Linkers merge functions with equal
// code, which would give two functions the same address. So this function has
// code that no other function has.
MPROF_NOINLINE void mprof_lost_contended_runtime_lock(void) {
  __asm__ volatile("nop\n\tnop\n\tnop");
}

const char *mprof_kind_name(enum mprof_kind kind) {
  static const char names[][16] = {
#define MPROF_KIND(Name, Group) #Name,
#include "mprof/hooks.def"
  };
#define MPROF_KIND(Name, Group) MPROF_FITS(#Name, names[0])
#include "mprof/hooks.def"
  if (kind == MPROF_KIND_own)
    return "mprof";
  return (unsigned)kind < MPROF_KIND_COUNT ? names[kind] : "";
}
