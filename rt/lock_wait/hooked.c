// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The addresses of the hooked functions; see hooked.h. Instrumented code tells
// the address of each function that it calls (switches.c).

#include "lock_wait/hooked.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#pragma weak dlsym // static programs have no dlsym

void *mprof_hooked_functions[MPROF_HOOKED_COUNT];

// The entries are weak, because a test may be linked without some of them.
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  extern char __mprof_##Symbol[] __attribute__((weak));
#define MPROF_WAIT(Symbol, Proto, Kind)                                        \
  extern char __mprof_##Symbol[] __attribute__((weak));
#include "mprof/hooks.def"

// Returns the address. Makes the compiler load the address into a register
// before it compares it. The linker replaces such a load by a computation that
// needs no relocation.
static inline uintptr_t loaded(const char *entry) {
  uintptr_t address = (uintptr_t)entry;
  __asm__("" : "+r"(address));
  return address;
}

// Compares with one entry after the other. The dynamic linker would have to
// relocate a table of the entries at the start of each program.
int mprof_hooked_of_entry(uintptr_t entry) {
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  if (entry == loaded(__mprof_##Symbol))                                       \
    return MPROF_HOOKED_##Symbol;
#define MPROF_WAIT(Symbol, Proto, Kind)                                        \
  if (entry == loaded(__mprof_##Symbol))                                       \
    return MPROF_HOOKED_##Symbol;
#include "mprof/hooks.def"
  return -1;
}

int mprof_hooked_at(uintptr_t fn) {
  for (int i = 0; i < MPROF_HOOKED_COUNT; i++)
    if ((uintptr_t)mprof_hooked_functions[i] == fn)
      return fn != 0 ? i : -1;
  return -1;
}

// The names stand in one constant object, and are found by their offsets. The
// dynamic linker would have to relocate a table of pointers at the start of
// each program.
const char *mprof_hooked_symbol(int number) {
  static const struct names {
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  char name_##Symbol[sizeof(#Symbol)];
#define MPROF_WAIT(Symbol, Proto, Kind) char name_##Symbol[sizeof(#Symbol)];
#include "mprof/hooks.def"
  } names = {
#define MPROF_RELEASE(Symbol, Proto, Object) #Symbol,
#define MPROF_WAIT(Symbol, Proto, Kind) #Symbol,
#include "mprof/hooks.def"
  };
  static const uint16_t offsets[] = {
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  offsetof(struct names, name_##Symbol),
#define MPROF_WAIT(Symbol, Proto, Kind) offsetof(struct names, name_##Symbol),
#include "mprof/hooks.def"
  };
  return (const char *)&names + offsets[number];
}

bool mprof_hooked_is_of_libc(int number) {
  static const bool is_of_libc[] = {
#define MPROF_RELEASE_OUTSIDE(Symbol, ...) false,
#define MPROF_WAIT_OUTSIDE(Symbol, ...) false,
#define MPROF_WAIT_URING(Symbol, ...) false,
#define MPROF_RELEASE(Symbol, ...) true,
#define MPROF_WAIT(Symbol, ...) true,
#include "mprof/hooks.def"
  };
  return is_of_libc[number];
}

void mprof_hooked_find_all(void) {
  const int before = errno;
  for (int i = 0; dlsym && i < MPROF_HOOKED_COUNT; i++) {
    void *none = NULL;
    if (mprof_hooked_functions[i] == NULL && mprof_hooked_is_of_libc(i))
      __atomic_compare_exchange_n(&mprof_hooked_functions[i], &none,
                                  dlsym(RTLD_DEFAULT, mprof_hooked_symbol(i)),
                                  false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  }
  errno = before;
}
