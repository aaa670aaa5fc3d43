// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of label sets. A lookup takes no lock; a set is added under
// labels_lock. (Go: runtime/pprof's LabelSet, g.labels)
//
// The sets are not in persistent memory (persistent.h), because a forked child
// empties its persistent memory. The child may still have pointers to sets, so
// the sets must stay valid in the child.
//
// A thread may fork while another thread adds a set. Therefore each single step
// of an addition leaves the table valid.

#include "thread/labels.h"

#include "mprof/mprof.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/libc.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "trace/trace_events.h"

#include <errno.h>
#include <string.h>

// Number of the overflow set. A thread gets this set if its own set does not
// fit in the table.
enum { OVERFLOW_ID = 1 };
#define OVERFLOW_KEY "mprof"
#define OVERFLOW_VALUE "labels overflow"

// Sets are stored in at most CHUNKS_MAX chunks of CHUNK_BYTES each. Only very
// long labels use up all chunks. With shorter labels, the number of sets
// reaches the option max_labels first.
#define CHUNK_BYTES ((size_t)256 << 10)
#define CHUNKS_MAX 64u
struct chunk {
  size_t used; // bytes of the chunk in use, including this header
};

struct table {
  size_t mask; // number of slots - 1, a bit mask for hashes; less than 2^18
  _Atomic uint16_t *slots; // hash table of set numbers; 0: free slot
  // The sets, indexed by set number. The array has max_labels + 2 entries:
  // index 0 is unused, and max_labels does not count the overflow set.
  _Atomic(const struct mprof_labels *) by_id[];
};

static struct {
  _Atomic(struct table *) table; // NULL until the first set is added
  struct mprof_lock lock;        // labels_lock; guards the fields below
  uint32_t len;                  // number of sets; the first set has number 1
  struct chunk *chunk; // the newest chunk, in which new sets are stored
  unsigned chunks;
} sets = {.lock = MPROF_LOCK_INIT(MPROF_RANK_LABELS)};

// --- lists of labels, from which sets are made ---

struct list {
  size_t len;
  struct mprof_label v[MPROF_LABELS_A_SET];
};

// Returns how many bytes of s to keep: at most max. Does not cut a UTF-8
// character in half.
static uint16_t kept_length(const char *s, size_t max) {
  size_t len = strnlen(s, max + 1);
  if (len <= max)
    return (uint16_t)len;
  mprof_stat_add(MPROF_STAT_labels_cut, 1);
  for (len = max; len > max - 3 && ((unsigned char)s[len] & 0xc0) == 0x80;)
    len--;
  return (uint16_t)len;
}

static int compare(const char *a, size_t a_len, const char *b, size_t b_len) {
  const size_t len = a_len < b_len ? a_len : b_len;
  const int order = len == 0 ? 0 : memcmp(a, b, len);
  return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

// Sets the label `key` in list l to `value`. Removes the label if value is
// NULL. Keeps the list sorted by key. Returns 0, -EINVAL if key is empty, or
// -ENOSPC if the list is full.
static int change(struct list *l, const char *key, const char *value) {
  if (!key || !*key)
    return -EINVAL;
  const uint16_t key_len = kept_length(key, MPROF_LABEL_KEY_MAX);
  size_t i = 0;
  int order = -1;
  while (i < l->len &&
         (order = compare(l->v[i].key, l->v[i].key_len, key, key_len)) < 0)
    i++;
  MPROF_ASSERT(l->len <= MPROF_LABELS_A_SET);
  const bool is_there = i < l->len && order == 0;
  struct mprof_label *at = &l->v[i];
  if (!value) {
    l->len -= is_there;
    if (is_there)
      memmove(at, at + 1, (l->len - i) * sizeof(*at));
    return 0;
  }
  if (!is_there && l->len == MPROF_LABELS_A_SET) {
    mprof_stat_add(MPROF_STAT_labels_overflow, 1);
    return -ENOSPC;
  }
  if (!is_there)
    memmove(at + 1, at, (l->len++ - i) * sizeof(*at));
  *at = (struct mprof_label){.key = key,
                             .key_len = key_len,
                             .value = value,
                             .value_len =
                                 kept_length(value, MPROF_LABEL_VALUE_MAX)};
  return 0;
}

static void fill_with_own(struct list *l) {
  const struct mprof_labels *own = mprof_labels_of(mprof_tls.labels);
  l->len = own ? own->len : 0;
  if (own)
    memcpy(l->v, own->v, own->len * sizeof(own->v[0]));
}

// --- sets ---

static uint64_t hash_bytes(uint64_t h, const char *s, size_t len) {
  return (mprof_hash(h, s, len) ^ len) * 0x9e3779b97f4a7c15u;
}

static uint64_t hash_of(const struct list *l) {
  uint64_t h = MPROF_HASH_EMPTY;
  for (size_t i = 0; i < l->len; i++) {
    h = hash_bytes(h, l->v[i].key, l->v[i].key_len);
    h = hash_bytes(h, l->v[i].value, l->v[i].value_len);
  }
  return h ^ h >> 32;
}

static bool is_equal(const struct mprof_labels *s, const struct list *l) {
  if (s->len != l->len)
    return false;
  for (size_t i = 0; i < l->len; i++) {
    const struct mprof_label *a = &s->v[i], *b = &l->v[i];
    if (compare(a->key, a->key_len, b->key, b->key_len) != 0 ||
        compare(a->value, a->value_len, b->value, b->value_len) != 0)
      return false;
  }
  return true;
}

// Returns the number of the set in table t that has the same labels as list l.
// hash: hash_of(l). If no set has these labels, returns 0 and sets *slot to the
// index of the free slot for a new set.
static uint16_t find(struct table *t, const struct list *l, uint64_t hash,
                     size_t *slot) {
  for (*slot = hash & t->mask;; *slot = (*slot + 1) & t->mask) {
    uint16_t id = atomic_load_explicit(&t->slots[*slot], memory_order_acquire);
    if (id == 0)
      return 0;
    const struct mprof_labels *s =
        atomic_load_explicit(&t->by_id[id], memory_order_relaxed);
    if (s->hash == hash && is_equal(s, l))
      return id;
  }
}

static void *alloc_locked(size_t len) {
  struct chunk *c = sets.chunk;
  len = (len + 15) & ~(size_t)15;
  if (!c || c->used + len > CHUNK_BYTES) {
    c = sets.chunks < CHUNKS_MAX ? mprof_os_map(CHUNK_BYTES) : NULL;
    if (!c)
      return NULL;
    c->used = 16;
    sets.chunk = c;
    sets.chunks++;
  }
  c->used += len;
  return (char *)c + c->used - len;
}

static char *copy(char *to, const char *from, size_t len) {
  if (len > 0)
    memcpy(to, from, len);
  // The terminating 0 is already in memory, because a new chunk is zeroed.
  return to + len + 1;
}

static struct mprof_labels *new_set_locked(const struct list *l) {
  struct mprof_labels *s;
  size_t bytes = sizeof(*s) + l->len * sizeof(s->v[0]);
  for (size_t i = 0; i < l->len; i++)
    bytes += l->v[i].key_len + l->v[i].value_len + 2u;
  s = alloc_locked(bytes);
  if (!s)
    return NULL;
  char *text = (char *)&s->v[l->len];
  for (size_t i = 0; i < l->len; i++) {
    s->v[i] = l->v[i];
    s->v[i].key = text;
    text = copy(text, l->v[i].key, l->v[i].key_len);
    s->v[i].value = text;
    text = copy(text, l->v[i].value, l->v[i].value_len);
  }
  s->len = (uint16_t)l->len;
  return s;
}

// Returns whether the table has no room for another set. sets.len counts the
// overflow set, but the option max_labels does not.
static bool is_full_locked(void) { return sets.len > mprof_flags.max_labels; }

static uint16_t add_locked(struct table *t, const struct list *l,
                           uint64_t hash) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_LABELS));
  size_t slot;
  uint16_t id = find(t, l, hash, &slot);
  if (id != 0 || is_full_locked())
    return id;
  struct mprof_labels *s = new_set_locked(l);
  if (!s)
    return 0;
  // Another thread may fork between any two of these steps. If the fork is
  // before sets.len grows, the child gives the number `id` to another set. If
  // the fork is after sets.len grows and before the slot is written, no set has
  // the number `id` in the child.
  id = (uint16_t)(sets.len + 1);
  s->hash = hash;
  s->id = id;
  atomic_store_explicit(&t->by_id[id], s, memory_order_relaxed);
  sets.len++;
  atomic_store_explicit(&t->slots[slot], id, memory_order_release);
  return id;
}

static struct table *make_table_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_LABELS));
  struct table *t = atomic_load_explicit(&sets.table, memory_order_relaxed);
  if (t)
    return t;
  const size_t ids = mprof_flags.max_labels + 2;
  size_t slots = 64;
  while (slots < 2 * ids)
    slots *= 2;
  const size_t head = sizeof(*t) + ids * sizeof(t->by_id[0]);
  t = mprof_os_map(head + slots * sizeof(t->slots[0]));
  if (!t)
    return NULL;
  t->mask = slots - 1;
  t->slots = (_Atomic uint16_t *)((char *)t + head);
  struct list overflow = {.len = 0};
  change(&overflow, OVERFLOW_KEY, OVERFLOW_VALUE);
  sets.len = 0;
  if (add_locked(t, &overflow, hash_of(&overflow)) != OVERFLOW_ID) {
    mprof_os_unmap(t, head + slots * sizeof(t->slots[0]));
    return NULL;
  }
  atomic_store_explicit(&sets.table, t, memory_order_release);
  return t;
}

// Finds the set with the labels of list l, or adds it. Stores the number of the
// set in *id and returns 0. After an error, *id is the number of another set,
// and the result is -errno. For -ENOSPC this is the overflow set, whose only
// label says that the table is full. For -ENOMEM and -ENOSYS it is the set that
// the thread has now.
static int intern(const struct list *l, uint16_t *id) {
  const uint64_t hash = hash_of(l);
  size_t slot;
  *id = 0;
  if (l->len == 0)
    return 0;
  struct table *t = atomic_load_explicit(&sets.table, memory_order_acquire);
  if (t && (*id = find(t, l, hash, &slot)) != 0)
    return 0;
  // A child that was forked without running the fork handlers cannot add a set:
  // its copy of labels_lock may stay locked forever.
  if (!mprof_process_is_own()) {
    *id = mprof_tls.labels;
    return -ENOSYS;
  }
  mprof_lock_acquire(&sets.lock);
  t = make_table_locked();
  if (t)
    *id = add_locked(t, l, hash);
  mprof_lock_release(&sets.lock);
  if (*id != 0)
    return 0;
  mprof_stat_add(t ? MPROF_STAT_labels_overflow : MPROF_STAT_no_memory, 1);
  *id = t ? OVERFLOW_ID : mprof_tls.labels;
  return t ? -ENOSPC : -ENOMEM;
}

const struct mprof_labels *mprof_labels_of(uint16_t id) {
  MPROF_ASSERT(id <= mprof_flags.max_labels + 1);
  struct table *t = atomic_load_explicit(&sets.table, memory_order_acquire);
  return t && id != 0
             ? atomic_load_explicit(&t->by_id[id], memory_order_relaxed)
             : NULL;
}

void mprof_labels_reset(void) { mprof_lock_reset(&sets.lock); }

// --- the calling thread's set ---

#define ENTRY_FRAME ((uintptr_t)__builtin_frame_address(0))

static void set_own(uint16_t id, uintptr_t frame) {
  if (id == mprof_tls.labels)
    return;
  mprof_thread_set_labels(id);
  if (mprof_unlikely(mprof_trace_is_on()))
    mprof_trace_labels(frame);
}

MPROF_PUBLIC int mprof_label_set(const char *key, const char *value) {
  struct list l;
  uint16_t id;
  if (!key || !*key)
    return EINVAL;
  if (!mprof_process_ready())
    return ENOSYS;
  if (!mprof_guard_enter()) {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
    return EBUSY;
  }
  id = mprof_tls.labels;
  fill_with_own(&l);
  int error = change(&l, key, value);
  if (error == 0)
    error = intern(&l, &id);
  mprof_guard_leave();
  set_own(id, ENTRY_FRAME);
  return -error;
}

MPROF_PUBLIC const struct mprof_labels *mprof_labels_get(void) {
  return mprof_labels_of(mprof_tls.labels);
}

MPROF_PUBLIC const struct mprof_labels *
mprof_labels_swap(const struct mprof_labels *labels) {
  const struct mprof_labels *before = mprof_labels_get();
  set_own(labels ? labels->id : 0, ENTRY_FRAME);
  return before;
}

// Sets the labels of the array `pairs` in list l. The array is key, value, key,
// value, ..., NULL. Ignores a label with an empty key. A key without a value
// ends the array. Prints a message for each of these errors.
static void change_all(struct list *l, const char *const *pairs) {
  for (; pairs && pairs[0]; pairs += 2) {
    if (!pairs[1]) {
      mprof_message("labels: a key has no value; this key and all later keys "
                    "are ignored");
      return;
    }
    if (change(l, pairs[0], pairs[1]) == -EINVAL)
      mprof_message("labels: a value with an empty key is ignored");
  }
}

static const struct mprof_labels *add(const char *const *pairs,
                                      uintptr_t frame) {
  const struct mprof_labels *before = mprof_labels_get();
  struct list l;
  uint16_t id;
  if (!mprof_process_ready())
    return before;
  if (!mprof_guard_enter()) {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
    return before;
  }
  fill_with_own(&l);
  change_all(&l, pairs);
  // The result is ignored, because id is a usable set even after an error.
  intern(&l, &id);
  mprof_guard_leave();
  set_own(id, frame);
  return before;
}

MPROF_PUBLIC const struct mprof_labels *
mprof_labels_add(const char *const *pairs) {
  return add(pairs, ENTRY_FRAME);
}

MPROF_WITHOUT_LIBGCC_S;

// Uses the cleanup attribute instead of pthread_cleanup_push, because fn may
// leave this function by longjmp. With some libcs, a longjmp must not leave the
// scope of pthread_cleanup_push. (Go: pprof.Do)
MPROF_PUBLIC void mprof_labels_with(const char *const *pairs,
                                    void (*fn)(void *arg), void *arg) {
  const struct mprof_labels *const before
      __attribute__((cleanup(__mprof_labels_leave), unused)) =
          add(pairs, ENTRY_FRAME);
  fn(arg);
}
