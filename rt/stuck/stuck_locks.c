// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the state of locks; see stuck.h. This file knows the layouts of
// the locks of glibc and musl. The program may have freed the memory of a lock,
// so this file reads a copy that the kernel makes.

#include "stuck/stuck.h"

#include "lock_wait/holds.h"
#include "lock_wait/hooked.h"
#include "sys/arch.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread_stacks/thread_stacks.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

// --- the kind of object that a thread waits for ---

#define CXX_OPS(X)                                                             \
  X(_ZNSt3__15mutex4lockEv, MPROF_AWAITS_MUTEX)                                \
  X(_ZNSt3__115recursive_mutex4lockEv, MPROF_AWAITS_MUTEX)                     \
  X(_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE,                 \
    MPROF_AWAITS_OBJECT)                                                       \
  X(_ZNSt3__118condition_variable4waitERNS_11unique_lockINS_5mutexEEE,         \
    MPROF_AWAITS_OBJECT)                                                       \
  X(_ZNSt6thread4joinEv, MPROF_AWAITS_THREAD)                                  \
  X(_ZNSt3__16thread4joinEv, MPROF_AWAITS_THREAD)
#define DECLARE(f, Awaited) extern void f(void);
CXX_OPS(DECLARE)

enum mprof_awaited mprof_awaited_of(uintptr_t op, uint8_t kind) {
  static const struct {
    char name[24];
    enum mprof_awaited awaited;
  } names[] = {{"pthread_mutex_lock", MPROF_AWAITS_MUTEX},
               {"mtx_lock", MPROF_AWAITS_MUTEX},
               {"pthread_rwlock_rdlock", MPROF_AWAITS_READ},
               {"pthread_rwlock_wrlock", MPROF_AWAITS_WRITE},
               {"pthread_spin_lock", MPROF_AWAITS_SPIN},
               {"pthread_join", MPROF_AWAITS_THREAD},
               {"thrd_join", MPROF_AWAITS_THREAD},
               {"pthread_cond_wait", MPROF_AWAITS_OBJECT},
               {"cnd_wait", MPROF_AWAITS_OBJECT},
               {"sem_wait", MPROF_AWAITS_OBJECT},
               {"pthread_barrier_wait", MPROF_AWAITS_OBJECT}};
  if (op == 0)
    return MPROF_AWAITS_NOTHING;
  if (kind == MPROF_KIND_user)
    return MPROF_AWAITS_USER;
  const char *name = mprof_hooked_name(mprof_op_pc(op));
  for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
    if (strcmp(name, names[i].name) == 0)
      return names[i].awaited;
#define IF_IS(f, Awaited) op == (uintptr_t)HOOKED(f) ? Awaited:
  return CXX_OPS(IF_IS) MPROF_AWAITS_NOTHING;
}

enum mprof_awaited mprof_taken_of(uintptr_t op, uint8_t kind) {
  const char *name;
  switch (kind) {
  case MPROF_KIND_mutex:
    return MPROF_AWAITS_MUTEX;
  case MPROF_KIND_spin:
    return MPROF_AWAITS_SPIN;
  case MPROF_KIND_user:
    return MPROF_AWAITS_USER;
  case MPROF_KIND_rwlock: // op: any lock function, such as tryrdlock
    name = mprof_hooked_name(mprof_op_pc(op));
    if (name && strstr(name, "rdlock"))
      return MPROF_AWAITS_READ;
    return name && strstr(name, "wrlock") ? MPROF_AWAITS_WRITE
                                          : MPROF_AWAITS_NOTHING;
  default:
    return MPROF_AWAITS_NOTHING;
  }
}

// --- the holder of a lock, from the lock's memory ---

#ifdef __GLIBC__
enum { ROBUST = 16, SHARED = 128, KINDS = 3 | 16 | 32 | 64 | 128 | 256 | 512 };

static struct mprof_lock_holder of_mutex(const pthread_mutex_t *m) {
  struct mprof_lock_holder h = {.tid = 0};
  const int kind = m->__data.__kind;
  h.is_held = m->__data.__lock != 0;
  if (h.is_held && (kind & ~KINDS) == 0)
    h.tid = m->__data.__owner;
  h.may_change = kind & (ROBUST | SHARED);
  return h;
}

static struct mprof_lock_holder of_rwlock(const pthread_rwlock_t *l) {
  struct mprof_lock_holder h = {.may_change = l->__data.__shared != 0};
  h.tid = l->__data.__cur_writer;
  h.readers = l->__data.__readers >> 3;
  h.is_held = h.tid != 0 || h.readers != 0;
  return h;
}

#ifdef __x86_64__
static bool spin_is_held(int word) { return word != 1; }
#else
static bool spin_is_held(int word) { return word != 0; }
#endif
#else
// musl: int 0 of a mutex is its type, and int 1 is the lock word. The low 31
// bits of an rwlock's int 0 are the number of readers, or all 1 for a writer.
static struct mprof_lock_holder of_mutex(const pthread_mutex_t *m) {
  const int type = m->__u.__i[0];
  const int word = m->__u.__i[1];
  struct mprof_lock_holder h = {.is_held = word != 0,
                                .may_change = type & (4 | 128)};
  if ((type & 15) != PTHREAD_MUTEX_NORMAL)
    h.tid = word & 0x3fffffff;
  return h;
}

static struct mprof_lock_holder of_rwlock(const pthread_rwlock_t *l) {
  const int mask = 0x7fffffff;
  const int word = l->__u.__i[0] & mask;
  return (struct mprof_lock_holder){
      .is_held = word != 0, .readers = word == mask ? 1 : (uint32_t)word};
}

static bool spin_is_held(int word) { return word != 0; }
#endif

struct mprof_lock_holder mprof_lock_holder_of(uintptr_t lock,
                                              enum mprof_awaited awaited) {
  const struct mprof_lock_holder unknown = {.tid = 0};
  union {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    int spin;
  } copy;
  switch (awaited) {
  case MPROF_AWAITS_MUTEX:
    return mprof_os_copy(&copy, lock, sizeof(copy.mutex))
               ? of_mutex(&copy.mutex)
               : unknown;
  case MPROF_AWAITS_READ:
  case MPROF_AWAITS_WRITE:
    return mprof_os_copy(&copy, lock, sizeof(copy.rwlock))
               ? of_rwlock(&copy.rwlock)
               : unknown;
  case MPROF_AWAITS_SPIN:
    return mprof_os_copy(&copy, lock, sizeof(copy.spin))
               ? (struct mprof_lock_holder){.is_held = spin_is_held(copy.spin),
                                            .readers = 1}
               : unknown;
  case MPROF_AWAITS_USER:
    return (struct mprof_lock_holder){.is_held = true, .readers = 1};
  default:
    return unknown;
  }
}

bool mprof_stuck_holds(const struct mprof_stuck_thread *t,
                       const struct mprof_hold *h) {
  const struct mprof_lock_holder now =
      mprof_lock_holder_of(h->lock, mprof_taken_of(h->op, h->kind));
  // If h->is_needed is true, the lock does not store its owner. In this case t
  // removes the record h when it releases the lock. The record h still exists,
  // so t has not released the lock.
  return now.tid == t->tid || (h->is_needed && now.tid == 0 && now.is_held);
}

// --- whether a thread sleeps ---

// Returns whether the futex call p has no timeout, and its futex belongs to the
// object that x waits for.
static bool is_of_object(const struct mprof_proc_thread *p,
                         const struct mprof_stuck_thread *x) {
  if (p->args[3] != 0)
    return false;
#ifdef __GLIBC__ // in musl, a condition's futex is on the waiter's stack
  enum { OBJECT = 256, THREAD = 4096 };
  const uintptr_t word = p->args[0];
  if (x->awaited == MPROF_AWAITS_THREAD)
    return word - x->wait.joins < THREAD;
  // The size of a condition is exact, because the mutex of the condition may
  // follow directly in memory. The other sizes are upper limits.
  return word - x->wait.object < (x->wait.kind == MPROF_KIND_cond
                                      ? sizeof(pthread_cond_t)
                                      : (size_t)OBJECT);
#else
  (void)x;
  return true;
#endif
}

// Returns whether the calling thread will sleep in its awaited object again
// when the current signal handler returns. The handler has interrupted the
// thread's wait for this object.
static bool sleeps_again(const struct mprof_stuck_thread *x) {
  const struct mprof_caller *c = x->thread->inside;
  struct mprof_proc_thread p;
  return c && mprof_interrupted_call(c->frame, &p) && is_of_object(&p, x) &&
         mprof_sleeps_again(&p, x->wait.kind != MPROF_KIND_sem);
}

bool mprof_stuck_sleeps(struct mprof_stuck_thread *x) {
  struct mprof_proc_thread p;
  if (x->is_unnoted)
    return mprof_stuck_unnoted_sleeps(x);
  if (x->awaited == MPROF_AWAITS_SPIN || x->awaited == MPROF_AWAITS_USER)
    return true; // the waiter may spin, or sleep in another object
  if (x->thread == mprof_tls.self)
    return sleeps_again(x);
  if (!mprof_proc_thread(x->tid, &p))
    return false;
  if (p.syscall == MPROF_SYSCALL_UNKNOWN)
    return p.state == 0 || p.state == 'S' || p.state == 'D';
  return p.syscall == SYS_futex && is_of_object(&p, x);
}
