// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the profile `locks`; see contention.h. The table is a hash table
// with chains. Rows are added by a compare and swap at the head of a chain, and
// are never moved or freed, so no lock is needed.

#include "lock_wait/contention.h"

#include "lock_wait/waiters.h"
#include "sys/persistent.h"
#include "sys/stats.h"

enum { HEADS = 512 };

static struct {
  _Atomic uint32_t heads[HEADS]; // handles of rows
  _Atomic uint32_t count;
  // The row of the pairs for which there is no row.
  struct mprof_pair others;
} pairs;

static struct mprof_pair *find(uint32_t row, const struct mprof_pair *key) {
  struct mprof_pair *p = mprof_persistent_pointer(row);
  while (p != NULL && (p->waiter != key->waiter || p->release != key->release ||
                       p->taken != key->taken))
    p = mprof_persistent_pointer(p->next);
  return p;
}

static struct mprof_pair *others(void) {
  mprof_stat_add(MPROF_STAT_pairs_full, 1);
  return &pairs.others;
}

// Returns the row of the pair, and adds it if needed. If another thread adds
// the row at the same time, the memory of one row is lost.
static struct mprof_pair *row_of(const struct mprof_pair *key) {
  const uint64_t hash =
      ((uint64_t)key->waiter * 0x9e3779b97f4a7c15u ^ key->release) *
          0x9e3779b97f4a7c15u ^
      (uint64_t)key->taken * 0xff51afd7ed558ccdu;
  _Atomic uint32_t *head = &pairs.heads[(hash >> 32) % HEADS];
  uint32_t first = atomic_load_explicit(head, memory_order_acquire);
  struct mprof_pair *p = find(first, key);
  if (p != NULL)
    return p;
  if (atomic_fetch_add(&pairs.count, 1) >= MPROF_PAIRS ||
      !(p = mprof_persistent_try_alloc(sizeof(*p)))) {
    atomic_fetch_sub(&pairs.count, 1);
    return others();
  }
  *p = *key;
  do {
    struct mprof_pair *other = find(first, key);
    if (other != NULL) {
      atomic_fetch_sub(&pairs.count, 1);
      return other;
    }
    p->next = first;
  } while (!atomic_compare_exchange_strong(head, &first,
                                           mprof_persistent_handle(p)));
  return p;
}

static void add(_Atomic uint64_t *to, uint64_t n) {
  atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static void raise64(_Atomic uint64_t *to, uint64_t n) {
  uint64_t old = atomic_load_explicit(to, memory_order_relaxed);
  while (old < n && !atomic_compare_exchange_weak(to, &old, n))
    ;
}

static void raise32(_Atomic uint32_t *to, uint32_t n) {
  uint32_t old = atomic_load_explicit(to, memory_order_relaxed);
  while (old < n && !atomic_compare_exchange_weak(to, &old, n))
    ;
}

static void add_share(const struct mprof_shares *all,
                      const struct mprof_share *x, uint64_t stamp,
                      uint32_t release, uint64_t weight) {
  struct mprof_pair *p = row_of(&(struct mprof_pair){
      .waiter = x->stack, .release = release, .taken = all->taken});
  add(&p->count, x->n * weight);
  add(&p->ticks, x->ticks * weight);
  raise64(&p->worst, x->worst);
  raise32(&p->queue, all->queue);
  if (all->taken == 0 || stamp <= all->since)
    return;
  const uint64_t held = stamp - all->since;
  add(&p->held, held * weight);
  add(&p->held_waiting, (x->worst < held ? x->worst : held) * weight);
}

void mprof_pairs_add_release(const struct mprof_charge *c, uint32_t release,
                             uint64_t weight) {
  const struct mprof_shares none = {
      .len = 1, .queue = 1, .v = {{.n = 1, .ticks = c->ticks}}};
  const struct mprof_shares *x = c->shares != NULL ? c->shares : &none;
  for (uint32_t i = 0; i < x->len; i++)
    add_share(x, &x->v[i], c->stamp, release, weight);
}

void mprof_pairs_add_rest(uint32_t waiter, uint64_t ticks, uint64_t weight) {
  struct mprof_pair *p = row_of(&(struct mprof_pair){.waiter = waiter});
  add(&p->count, weight);
  add(&p->ticks, ticks * weight);
  raise64(&p->worst, ticks);
  raise32(&p->queue, 1);
}

static bool has_others(void) {
  return atomic_load_explicit(&pairs.others.count, memory_order_relaxed) != 0;
}

size_t mprof_pairs_count(void) {
  const uint32_t n = atomic_load_explicit(&pairs.count, memory_order_relaxed);
  return (n < MPROF_PAIRS ? n : MPROF_PAIRS) + has_others();
}

void mprof_pairs_each(void (*f)(const struct mprof_pair *row, void *arg),
                      void *arg) {
  for (size_t i = 0; i < HEADS; i++)
    for (const struct mprof_pair *p = mprof_persistent_pointer(
             atomic_load_explicit(&pairs.heads[i], memory_order_acquire));
         p != NULL; p = mprof_persistent_pointer(p->next))
      f(p, arg);
  if (has_others())
    f(&pairs.others, arg);
}

void mprof_pairs_reset(void) {
  for (size_t i = 0; i < HEADS; i++)
    pairs.heads[i] = 0;
  pairs.count = 0;
  pairs.others = (struct mprof_pair){.next = 0};
}
