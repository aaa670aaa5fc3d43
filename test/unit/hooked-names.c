// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the runtime knows the name of every hooked C function by the
// function's address, whatever symbols libc has. For other functions and for
// functions of the C++ libraries it returns no name. The runtime does not refer
// to the functions that wait or unlock, so programs that do not call them
// neither contain nor bind them.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t
// RUN: %unit -D_GNU_SOURCE -DCXX %s %rtlib \
// RUN:   -Wl,--no-as-needed -l:libstdc++.so.6 -o %t.cxx && %t.cxx
// RUN: %llvm_tools/llvm-nm %rtlib 2>/dev/null | sed -n '/^hook_names/,/^$/p' > %t.nm
// RUN: not grep ' [wU] pthread_mutex_lock$' %t.nm
// RUN: %llvm_tools/llvm-nm %rtlib 2>/dev/null > %t.nm
// RUN: not grep -E ' [wU] (epoll_wait|flock|pthread_cond_wait|sem_wait|mtx_lock)$' %t.nm

#include "waits.h"

#include "lock_wait/hooked.h"

#include <dlfcn.h>

static const char *name_of(void *address) {
  return mprof_hooked_name(mprof_op_pc((uintptr_t)address));
}

static int checked, outside;

static void check(const char *symbol) {
  void *address = dlsym(RTLD_DEFAULT, symbol);
  if (address == NULL)
    return;
  const char *name = name_of(address);
  CHECK(name != NULL);
  // The name of an alias is the one that comes first in hooks.def.
  CHECK(dlsym(RTLD_DEFAULT, name) == address);
  CHECK(strlen(name) <= strlen(symbol));
  checked++;
}

// A function of a C++ library.
static void check_outside(const char *symbol) {
  void *address = dlsym(RTLD_DEFAULT, symbol);
  if (address == NULL)
    return;
  CHECK(name_of(address) == NULL);
  outside++;
}

int main(void) {
  mprof_hooked_find_all();
#define MPROF_RELEASE(Symbol, Proto, Object) check(#Symbol);
#define MPROF_WAIT(Symbol, Proto, Kind) check(#Symbol);
#define MPROF_WAIT_OUTSIDE(Symbol, Proto, Kind) check_outside(#Symbol);
#define MPROF_RELEASE_OUTSIDE(Symbol, Proto, Object) check_outside(#Symbol);
#define MPROF_CREATE_OUTSIDE(Symbol, Proto) check_outside(#Symbol);
#define MPROF_CREATE(Symbol, Proto) check(#Symbol);
#include "mprof/hooks.def"
  CHECK(checked > 90);
#ifdef CXX
  CHECK(outside > 3);
#endif
  CHECK(name_of((void *)main) == NULL);
  CHECK(mprof_hooked_name(0) == NULL);
  CHECK(mprof_hooked_name(1) == NULL);
  CHECK_STR(name_of((void *)mprof_lost_contended_runtime_lock),
            "mprof::_LostContendedRuntimeLock");
  CHECK_STR(mprof_kind_name(MPROF_KIND_mutex), "mutex");
  CHECK_STR(mprof_kind_name(MPROF_KIND_call), "call");
  CHECK_STR(mprof_kind_name(MPROF_KIND_own), "mprof");
  return 0;
}
