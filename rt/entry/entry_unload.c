// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects unloads of libraries, in two ways. First, the last destructor of an
// instrumented library calls __mprof_module_unloads, whatever causes the
// unload. Second, the entry of dlclose (the function __mprof_dlclose that
// instrumented code calls) finds the other libraries that dlclose unloads.
// Before the entry calls dlclose, it lists the modules if a module was loaded
// since the last listing. After the call, it finds the modules that are no
// longer loaded (module_unloads.h).
//
// dlclose runs the program's destructors, so the entry holds neither the guard
// nor a lock during the call. The entry does not change the error that dlerror
// returns after dlclose.

#include "entry/entry_unload.h"

#include "entry/sync_entry.h"
#include "process/modules.h"
#include "process/process.h"
#include "symbolize/module_unloads.h"
#include "sys/abi_words.h"
#include "sys/resolve_late.h"
#include "sys/stats.h"
#include "sys/tls.h"

#include <dlfcn.h>
#include <stdlib.h>

// The loader's counts at the last listing of the modules. Each field is written
// after the listing, so a race can only cause a listing that is not needed.
static struct {
  _Atomic unsigned long long adds, subs; // numbers of loads and unloads so far
  atomic_uint epoch; // process's epoch + 1; 0: the modules were never listed
} seen;

static bool is_news(const struct mprof_loads *l, bool unloads_only) {
  return atomic_load(&seen.epoch) != mprof_process_epoch() + 1 ||
         atomic_load(&seen.subs) != l->subs ||
         (!unloads_only && atomic_load(&seen.adds) != l->adds);
}

static void look(bool unloads_only) {
  // Read the counts before the modules are listed. If a module is loaded during
  // this listing, the next call of look() finds the module. The guard is not
  // yet set, because mprof_module_loads calls dl_iterate_phdr, which the
  // program may define itself. With the guard set, events in the program's
  // function would be lost.
  const struct mprof_loads loads = mprof_module_loads();
  if (!is_news(&loads, unloads_only))
    return;
  if (!mprof_guard_enter()) {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
    return;
  }
  mprof_unloads_look();
  mprof_guard_leave();
  atomic_store(&seen.adds, loads.adds);
  atomic_store(&seen.subs, loads.subs);
  atomic_store(&seen.epoch, mprof_process_epoch() + 1);
}

// The reference to dlclose is weak, so that a program that unloads nothing is
// linked without dlclose. Call sites refer only to the entry. Therefore the
// pass keeps a reference to dlclose in each module that calls it.
#pragma weak dlclose

MPROF_ENTRY int __mprof_dlclose(void *handle) {
  if (!mprof_init_ready())
    return dlclose(handle);
  const int before = errno;
  look(false);
  errno = before;
  const int result = dlclose(handle);
  mprof_resolve_forget();
  const int after = errno;
  look(true);
  errno = after;
  return result;
}

// Set at exit. Destructors also run at exit, but they do not mean that a
// library is unloaded.
static atomic_bool is_exiting;

static void note_exit(void) { atomic_store(&is_exiting, true); }

void mprof_unload_init(void) { atexit(note_exit); }

MPROF_ENTRY void __mprof_module_unloads(const void *inside) {
  if (atomic_load(&is_exiting))
    return;
  mprof_resolve_forget();
  if (!atomic_load_explicit(&mprof_is_ready, memory_order_acquire))
    return;
  const int before = errno;
  if (mprof_guard_enter()) {
    mprof_unloads_leave((uintptr_t)inside);
    mprof_guard_leave();
  } else {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
  }
  errno = before;
}
