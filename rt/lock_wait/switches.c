// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets the switches of hooked functions; see switches.h.
//
// A thread may have read a switch just before it is set. So an entry may run
// although its kind is off, and a wait or a release may stay unrecorded
// although its kind is on. Neither does harm, because the entry does the whole
// work of the hooked function, and because waits that begin while their kind is
// off are not recorded either. A fork may happen between the two stores to a
// switch. begin_in_child (init.c) sets all switches again.

#include "lock_wait/switches.h"

#include "lock_wait/block_kinds.h"
#include "lock_wait/hooked.h"
#include "sys/lock.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/eh_frame.h"

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

// Returns whether s leads to the entry, in a process that records waits of
// `kinds`.
static bool wants_entry(const struct __mprof_switch *s, uint64_t kinds) {
  return s->kind >= MPROF_KIND_COUNT ? (kinds & awaited_kinds) != 0
                                     : (kinds >> s->kind & 1) != 0;
}

// Whether an address in mprof_hooked_functions may be replaced, because the
// libraries that told it were unloaded. Until then it stays in place: at exit,
// the destructors of libraries run, too, but other threads may still call their
// functions. Guarded by registry_lock.
static bool is_replaceable[MPROF_HOOKED_COUNT];

// Returns whether the library m itself defines the function. The entries of
// libc's functions must not call it, because its locks may have another layout.
// They also call other functions of libc, such as pthread_mutex_trylock.
static bool defines(const struct __mprof_switches *m, const void *function) {
  const struct mprof_code_range own = mprof_eh_module((uintptr_t)m);
  return (uintptr_t)function - own.begin < own.end - own.begin;
}

// Tells the entry of s which function to call. Returns false if the module m of
// s has a function of its own, whose calls stay as they are. For example, a
// library may have its own pthread_mutex_lock that no other module sees, or may
// be opened with RTLD_DEEPBIND. The program's function has priority over
// functions of libraries.
static bool set_function_locked(const struct __mprof_switches *m,
                                const struct __mprof_switch *s) {
  const int number = mprof_hooked_of_entry((uintptr_t)s->entry);
  if (number < 0 || s->function == NULL ||
      (!m->is_program && mprof_hooked_is_of_libc(number) &&
       defines(m, s->function)))
    return false;
  void **function = &mprof_hooked_functions[number];
  if (*function != s->function &&
      (*function == NULL || m->is_program || is_replaceable[number]))
    __atomic_store_n(function, s->function, __ATOMIC_RELEASE);
  if (*function == s->function)
    is_replaceable[number] = false;
  return *function == s->function;
}

static void set_switch_locked(const struct __mprof_switches *m,
                              struct __mprof_switch *s, uint64_t kinds) {
  const bool is_on = wants_entry(s, kinds) && set_function_locked(m, s);
  if (s->is_on == is_on)
    return;
  __atomic_store_n(&s->target, is_on ? s->entry : s->function,
                   __ATOMIC_RELEASE);
  __atomic_store_n(&s->is_on, is_on, __ATOMIC_RELEASE);
}

static void set_module_locked(const struct __mprof_switches *m,
                              uint64_t kinds) {
  for (struct __mprof_switch *s = m->begin; s != m->end; s++)
    set_switch_locked(m, s, kinds);
}

// Sets the program's switches first, so that entries call the program's
// functions.
void mprof_switches_set_locked(uint64_t kinds) {
  for (int is_program = 1; is_program >= 0; is_program--)
    for (struct __mprof_switches *m = modules; m != NULL; m = m->next)
      if (m->is_program == (uint64_t)is_program)
        set_module_locked(m, kinds);
}

static uint64_t kinds_now(void) {
  return __atomic_load_n(&__mprof_sync_kinds, __ATOMIC_RELAXED);
}

static bool is_used_locked(const struct __mprof_switch *s) {
  for (struct __mprof_switches *m = modules; m != NULL; m = m->next)
    for (struct __mprof_switch *t = m->begin; t != m->end; t++)
      if (t->entry == s->entry && t->function == s->function)
        return true;
  return false;
}

// Marks the addresses of functions that only the module m has told. The unload
// of m may also unload the functions. A function of the same name as one of
// libc's may be in another library, too.
static void forget_functions_locked(const struct __mprof_switches *m) {
  for (struct __mprof_switch *s = m->begin; s != m->end; s++) {
    const int number = mprof_hooked_of_entry((uintptr_t)s->entry);
    if (number >= 0 && mprof_hooked_functions[number] == s->function &&
        !is_used_locked(s))
      is_replaceable[number] = true;
  }
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
  const uint64_t kinds = kinds_now();
  // The program's functions replace those of libraries that came before.
  if (node->is_program)
    mprof_switches_set_locked(kinds);
  else
    set_module_locked(node, kinds);
  mprof_lock_release(&mprof_registry_lock);
  mprof_guard_leave();
}

static void unlink_module(const struct __mprof_switches *node) {
  if (modules == node)
    modules = node->next;
  for (struct __mprof_switches *m = modules; m != NULL; m = m->next)
    if (m->next == node)
      m->next = node->next;
}

// If the guard is already set, a signal handler has interrupted the runtime and
// is unloading a library. The interrupted code may hold registry_lock, or a
// lock that comes after it. In this case the library is removed without the
// lock, because its memory is about to be unmapped, and each change of the list
// is a single store.
void __mprof_unregister_switches(struct __mprof_switches *node) {
  enum { PATIENCE_MS = 1000 };
  const bool entered = mprof_guard_enter();
  bool locked = entered;
  if (entered)
    mprof_lock_acquire(&mprof_registry_lock);
  else if (mprof_tls.held == 0)
    locked = mprof_lock_acquire_within(&mprof_registry_lock, PATIENCE_MS);
  unlink_module(node);
  if (locked) {
    forget_functions_locked(node);
    mprof_lock_release(&mprof_registry_lock);
  }
  if (entered)
    mprof_guard_leave();
}
