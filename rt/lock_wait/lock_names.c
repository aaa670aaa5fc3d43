// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names that the program gives to its locks. A forked child has the same
// locks as its parent, and the program does not name them again. So the names
// are not in persistent memory (persistent.h), because persistent memory is
// emptied in a forked child. A fork may happen in the middle of a change of the
// table. Therefore the table is consistent after each step of a change.

#include "lock_wait/hooked.h"

#include "process/process.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"

#include <errno.h>
#include <string.h>

enum { NAMES_MAX = 4096, HEADS = 1024 };

struct name {
  struct name *next; // next struct in its hash chain, or in the list `unused`
  uintptr_t address;
  char text[MPROF_LOCK_NAME]; // the last byte is always 0
};

struct table {
  struct name *heads[HEADS];
  struct name *unused; // structs whose names were removed
  size_t used;         // number of elements of names[] that were ever in use
  struct name names[NAMES_MAX];
};

static struct {
  struct mprof_lock lock; // names_lock
  // NULL before the first name. Set once, under names_lock, which guards the
  // table.
  struct table *_Atomic table;
} lock_names = {.lock = MPROF_LOCK_INIT(MPROF_RANK_NAMES)};

// Returns the pointer that points to the struct for address. If there is no
// such struct, returns the pointer at the end of the hash chain, which is NULL.
static struct name **find_locked(struct table *t, uintptr_t address) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_NAMES));
  struct name **p = &t->heads[(address * 0x9e3779b97f4a7c15u >> 32) % HEADS];
  while (*p != NULL && (*p)->address != address)
    p = &(*p)->next;
  return p;
}

static struct name *new_name_locked(struct table *t) {
  struct name *n = t->unused;
  if (n != NULL)
    t->unused = n->next;
  else if (t->used < NAMES_MAX)
    n = &t->names[t->used++];
  return n;
}

static int set_locked(uintptr_t address, const char *name) {
  if (lock_names.table == NULL)
    lock_names.table = mprof_os_map(sizeof(*lock_names.table));
  struct table *t = lock_names.table;
  if (t == NULL)
    return -ENOMEM;
  struct name **p = find_locked(t, address), *n = *p;
  if (n == NULL && (n = new_name_locked(t)) == NULL)
    return -ENOMEM;
  struct mprof_text text = MPROF_TEXT(n->text);
  mprof_text_clean(&text, name, strlen(name));
  if (*p == NULL) {
    n->address = address;
    n->next = NULL;
    *p = n;
  }
  return 0;
}

static void forget_locked(uintptr_t address) {
  struct table *t = lock_names.table;
  struct name **p = t == NULL ? NULL : find_locked(t, address);
  if (p == NULL || *p == NULL)
    return;
  struct name *n = *p;
  *p = n->next;
  n->next = t->unused;
  t->unused = n;
}

MPROF_PUBLIC int mprof_name_lock(const void *lock, const char *name) {
  if (lock == NULL)
    return EINVAL;
  if (!mprof_process_ready())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  int error = 0;
  mprof_lock_acquire(&lock_names.lock);
  if (name != NULL && name[0] != '\0')
    error = set_locked((uintptr_t)lock, name);
  else
    forget_locked((uintptr_t)lock);
  mprof_lock_release(&lock_names.lock);
  mprof_guard_leave();
  return -error;
}

bool mprof_lock_name(uintptr_t address, char name[MPROF_LOCK_NAME]) {
  struct table *t =
      atomic_load_explicit(&lock_names.table, memory_order_relaxed);
  if (mprof_likely(t == NULL))
    return false;
  mprof_lock_acquire(&lock_names.lock);
  const struct name *n = *find_locked(t, address);
  if (n != NULL)
    memcpy(name, n->text, MPROF_LOCK_NAME);
  mprof_lock_release(&lock_names.lock);
  return n != NULL;
}

void mprof_lock_label(struct mprof_text *t, uintptr_t address) {
  char name[MPROF_LOCK_NAME];
  mprof_text_address(t, mprof_lock_name(address, name) ? name : "", address);
}

void mprof_lock_names_reset(void) { mprof_lock_reset(&lock_names.lock); }
