// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets the switches of hooked functions; see switches.h.
//
// A thread may have read a switch just before it is set. So an entry may run
// although its kind is off, and a wait or a release may stay unrecorded
// although its kind is on. Neither does harm, because the entry does the whole
// work of the hooked function, and because waits that begin while their kind is
// off are not recorded either.

#include "lock_wait/switches.h"

#include "lock_wait/block_kinds.h"
#include "lock_wait/hook_names.h"
#include "sys/lock.h"
#include "sys/tls.h"
#include "thread/threads.h"

// The arrays of all loaded modules; guarded by registry_lock. A fork may happen
// while another thread changes the list, so each change is a single store, and
// the child finds a whole list.
static _Atomic(struct __mprof_switches *) modules;

// The kinds for which threads wait in the table of waiters. Only for these, a
// release has anything to do.
enum group { sync, try, calls };
static const uint64_t awaited_kinds =
#define MPROF_KIND(Name, Group) | (uint64_t)(Group == sync) << MPROF_KIND_##Name
    0
#include "mprof/hooks.def"
    ;

static bool wants(const struct __mprof_switch *s, uint64_t kinds) {
  if (s->kind >= MPROF_KIND_COUNT)
    return (kinds & awaited_kinds) != 0;
  return kinds >> s->kind & 1;
}

// Returns whether the module of s has a function of its own in place of the
// hooked function that the runtime's entry calls. For example, a library that
// is opened with RTLD_DEEPBIND may have its own pthread_mutex_lock. Its calls
// stay as they are.
static bool is_private(const struct __mprof_switch *s) {
  const uintptr_t called = mprof_hook_function((uintptr_t)s->entry);
  return called != 0 && called != (uintptr_t)s->function;
}

static void set_module_locked(const struct __mprof_switches *m,
                              uint64_t kinds) {
  for (struct __mprof_switch *s = m->begin; s != m->end; s++) {
    const bool is_on = wants(s, kinds);
    if (s->is_on == is_on || (is_on && is_private(s)))
      continue;
    __atomic_store_n(&s->target, is_on ? s->entry : s->function,
                     __ATOMIC_RELEASE);
    __atomic_store_n(&s->is_on, is_on, __ATOMIC_RELEASE);
  }
}

void mprof_switches_set_locked(uint64_t kinds) {
  for (struct __mprof_switches *m = modules; m != NULL; m = m->next)
    set_module_locked(m, kinds);
}

// If the recursion guard is already set, a signal handler has interrupted the
// runtime and is loading a library. In this case the library is not registered,
// because the interrupted code may hold registry_lock. Its waits are then not
// recorded.
void __mprof_register_switches(struct __mprof_switches *node) {
  if (!mprof_guard_enter())
    return;
  mprof_lock_acquire(&mprof_registry_lock);
  node->next = modules;
  modules = node;
  set_module_locked(node,
                    __atomic_load_n(&__mprof_sync_kinds, __ATOMIC_RELAXED));
  mprof_lock_release(&mprof_registry_lock);
  mprof_guard_leave();
}

void __mprof_unregister_switches(struct __mprof_switches *node) {
  const bool entered = mprof_guard_enter();
  mprof_lock_acquire(&mprof_registry_lock);
  if (modules == node)
    modules = node->next;
  for (struct __mprof_switches *m = modules; m != NULL; m = m->next)
    if (m->next == node)
      m->next = node->next;
  mprof_lock_release(&mprof_registry_lock);
  if (entered)
    mprof_guard_leave();
}
