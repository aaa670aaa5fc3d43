// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions marked mprof_wrapper, as the modules of the program name them.
// Their frames are elided where stacks are expanded.

#include "fastpath.h"
#include "threads.h"
#include "writer.h"

#include <string.h>

static struct __mprof_wrappers *modules; // guarded by registry_lock

// Called by constructors and destructors, so the guard is only set by a signal
// handler that loads a library, in the middle of the runtime. Its module is
// left out: the lock could be held below.
void __mprof_register_wrappers(struct __mprof_wrappers *node) {
  if (!mprof_guard_enter())
    return;
  mprof_lock_acquire(&mprof_registry_lock);
  node->next = modules;
  modules = node;
  mprof_lock_release(&mprof_registry_lock);
  mprof_guard_leave();
}

void __mprof_unregister_wrappers(struct __mprof_wrappers *node) {
  bool entered = mprof_guard_enter();
  mprof_lock_acquire(&mprof_registry_lock);
  for (struct __mprof_wrappers **p = &modules; *p != NULL; p = &(*p)->next)
    if (*p == node) {
      *p = node->next;
      break;
    }
  mprof_lock_release(&mprof_registry_lock);
  if (entered)
    mprof_guard_leave();
}

void mprof_each_wrapper(void (*fn)(const char *name, void *arg), void *arg) {
  mprof_lock_acquire(&mprof_registry_lock);
  for (const struct __mprof_wrappers *m = modules; m != NULL; m = m->next)
    for (size_t i = 0; i < m->count; i++)
      fn(m->names[i], arg);
  mprof_lock_release(&mprof_registry_lock);
}

struct query {
  const char *function;
  bool is_found;
};

// function is name, perhaps with parameters after it. A name that ends the
// function's only in part is another function: "alloc" is not "alloc_all".
static void match(const char *name, void *arg) {
  struct query *q = arg;
  size_t len = strlen(name);
  if (strncmp(q->function, name, len) == 0 &&
      (q->function[len] == '\0' || q->function[len] == '('))
    q->is_found = true;
}

bool mprof_is_wrapper(const char *function) {
  struct query q = {.function = function};
  mprof_each_wrapper(match, &q);
  return q.is_found;
}
