// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sees unloads: the last destructor of an instrumented library, whoever
// closes it, and the entry of dlclose for what other libraries go with it. What
// is loaded is noted before the call, if something was loaded since the last
// one, and what is gone is found after it; see epochs.h. Neither the guard nor
// a lock is held during the call, which runs the program's destructors. dlerror
// says what dlclose made it say.

#include "entry_unload.h"

#include "abi_words.h"
#include "entry_sync.h"
#include "epochs.h"
#include "modules.h"
#include "process.h"
#include "real.h"
#include "stats.h"
#include "tls.h"

#include <dlfcn.h>
#include <stdlib.h>

// The last look's. Races only cost a look that was not needed: each field is
// written after what it stands for was seen.
static struct {
  _Atomic unsigned long long adds, subs;
  atomic_uint epoch; // of the process, plus 1; 0: no look yet
} seen;

static bool is_news(const struct mprof_loads *l, bool unloads_only) {
  return atomic_load(&seen.epoch) != mprof_process_epoch() + 1 ||
         atomic_load(&seen.subs) != l->subs ||
         (!unloads_only && atomic_load(&seen.adds) != l->adds);
}

static void look(bool unloads_only) {
  // Before the look: what is loaded meanwhile is news the next time. Without
  // the guard, since a program may have a dl_iterate_phdr of its own.
  const struct mprof_loads loads = mprof_module_loads();
  if (!is_news(&loads, unloads_only))
    return;
  if (!mprof_guard_enter()) {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
    return;
  }
  mprof_epochs_look();
  mprof_guard_leave();
  atomic_store(&seen.adds, loads.adds);
  atomic_store(&seen.subs, loads.subs);
  atomic_store(&seen.epoch, mprof_process_epoch() + 1);
}

// Sites do not refer to it any more, but for their reference that the pass
// keeps; programs that unload nothing are linked without it.
WEAK(dlclose);

MPROF_ENTRY int __mprof_dlclose(void *handle) {
  if (!mprof_init_ready())
    return dlclose(handle);
  const int before = errno;
  look(false);
  errno = before;
  const int result = dlclose(handle);
  mprof_real_forget();
  const int after = errno;
  look(true);
  errno = after;
  return result;
}

// At exit the destructors run too, but nothing is unloaded.
static atomic_bool is_exiting;

static void note_exit(void) { atomic_store(&is_exiting, true); }

void mprof_unload_init(void) { atexit(note_exit); }

MPROF_ENTRY void __mprof_module_unloads(const void *inside) {
  if (atomic_load(&is_exiting))
    return;
  mprof_real_forget();
  if (!atomic_load_explicit(&mprof_is_ready, memory_order_acquire))
    return;
  const int before = errno;
  if (mprof_guard_enter()) {
    mprof_epochs_leave((uintptr_t)inside);
    mprof_guard_leave();
  } else {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
  }
  errno = before;
}
