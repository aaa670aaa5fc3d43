// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the list of loaded and unloaded modules; see module_unloads.h. Only
// mappings of files are listed. Other code, such as the code of just-in-time
// compilers, is often mapped and unmapped. Such code has no file in which its
// functions could be found after the unload.

#include "symbolize/module_unloads.h"

#include "bucket/bucket.h"
#include "symbolize/maps.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "unwind/python.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <string.h>

// --- marked buckets ---

static struct {
  // The buckets that are not marked, in any order.
  struct mprof_bucket **v;
  size_t len, cap;
  // For each type, the newest bucket that the list takes into account.
  struct mprof_bucket *newest[MPROF_BUCKET_TYPES];
} unmarked; // guarded by modules_lock

static bool make_room(void) {
  if (unmarked.len < unmarked.cap)
    return true;
  const size_t cap = unmarked.cap == 0 ? 4096 : 2 * unmarked.cap;
  struct mprof_bucket **v = mprof_os_map(cap * sizeof(struct mprof_bucket *));
  if (v == NULL)
    return false;
  struct mprof_bucket **old = unmarked.v;
  const size_t old_cap = unmarked.cap;
  if (old != NULL)
    memcpy(v, old, unmarked.len * sizeof(struct mprof_bucket *));
  unmarked.v = v;
  unmarked.cap = cap;
  if (old != NULL)
    mprof_os_unmap(old, old_cap * sizeof(struct mprof_bucket *));
  return true;
}

// Adds the buckets of this type that were created since the last call. Returns
// false if there is no memory. Then the next call adds the same buckets again,
// which does no harm.
static bool add_new(int type) {
  struct mprof_bucket *const newest = mprof_bucket_first(type);
  for (struct mprof_bucket *b = newest; b != unmarked.newest[type];
       b = b->allnext) {
    if (mprof_bucket_gone(b) != 0)
      continue;
    if (!make_room())
      return false;
    unmarked.v[unmarked.len++] = b;
  }
  unmarked.newest[type] = newest;
  return true;
}

typedef bool is_gone_fn(const struct mprof_bucket *b, const void *arg);

// Marks b if it is not marked and is_gone(b, arg) is true. Returns 1 if b was
// marked now, and 0 otherwise.
static unsigned mark(struct mprof_bucket *b, uint32_t unload,
                     is_gone_fn *is_gone, const void *arg) {
  if (mprof_bucket_gone(b) != 0 || !is_gone(b, arg))
    return 0;
  mprof_bucket_bury(b, unload);
  return 1;
}

uint64_t mprof_unload_mark(uint32_t unload, is_gone_fn *is_gone,
                           const void *arg) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_UNLOADS));
  uint64_t n = 0;
  for (int type = MPROF_BUCKET_MEM; type < MPROF_BUCKET_TYPES; type++)
    if (!add_new(type))
      for (struct mprof_bucket *b = mprof_bucket_first(type); b != NULL;
           b = b->allnext)
        n += mark(b, unload, is_gone, arg);
  for (size_t i = 0; i < unmarked.len;) {
    n += mark(unmarked.v[i], unload, is_gone, arg);
    if (mprof_bucket_gone(unmarked.v[i]) != 0)
      unmarked.v[i] = unmarked.v[--unmarked.len];
    else
      i++;
  }
  return n;
}

void mprof_unload_marks_reset(void) {
  unmarked.len = 0;
  memset(unmarked.newest, 0, sizeof(unmarked.newest));
}

// --- modules ---

// Output files show unloaded code at addresses from SHOWN_BASE on. Each module
// takes a multiple of SHOWN_UNIT bytes. These addresses are above all addresses
// of a process, and below the addresses that tools regard as kernel addresses.
#define SHOWN_BASE (UINT64_C(1) << 47)
#define SHOWN_UNIT (UINT64_C(1) << 20)

struct module {
  struct module *next;
  struct mprof_mapping map; // mapping while loaded; map.to: set at the unload
  uintptr_t shown;          // start address in output files after the unload
  struct mprof_persist_module *note; // in the file of persist; NULL: none
};

static struct {
  struct mprof_lock lock;   // modules_lock: guards all fields
  struct module *now;       // loaded modules, in any order
  struct module *past;      // unloaded modules, oldest unload first
  struct module **past_end; // where to append to `past`; NULL: &past
  size_t past_len;
  _Atomic uint32_t unloads; // number of detected unloads; also read unlocked
  uintptr_t next_shown;
} epochs = {.lock = MPROF_LOCK_INIT(MPROF_RANK_UNLOADS)};

static bool is_file(const struct mprof_mapping *m) {
  return m->file[0] == '/' || strncmp(m->file, "...", 3) == 0;
}

static bool is_same(const struct mprof_mapping *a,
                    const struct mprof_mapping *b) {
  return a->bias == b->bias && strcmp(a->build_id, b->build_id) == 0 &&
         strcmp(a->file, b->file) == 0;
}

static bool holds(const struct mprof_mapping *m, uintptr_t addr) {
  return addr - m->start < m->limit - m->start;
}

static bool overlap(const struct mprof_mapping *a,
                    const struct mprof_mapping *b) {
  return a->start < b->limit && b->start < a->limit;
}

static const struct mprof_mapping *find_now(const struct mprof_maps *m,
                                            uintptr_t addr) {
  for (size_t i = 0; i < m->len; i++)
    if (holds(&m->v[i], addr))
      return &m->v[i];
  return NULL;
}

// Returns whether a module is still loaded. A program may copy its own code,
// for example into huge pages, and map the copy at the old addresses. The new
// mapping has no file, but it contains the same code. So the module still
// counts as loaded.
static bool is_loaded(const struct module *x, const struct mprof_maps *m) {
  const struct mprof_mapping *v = find_now(m, x->map.start);
  return v != NULL && (!is_file(v) || is_same(v, &x->map));
}

// --- unloads ---

// Returns whether an address of b's stack lies in a module of a list. first:
// the first module of the list. Tests the address before each return address,
// because the call instruction is before the return address.
static bool was_in(const struct mprof_bucket *b, const void *first) {
  for (uint32_t i = 0; i < b->stack_len; i++)
    for (const struct module *x = first; x != NULL; x = x->next)
      if (holds(&x->map, b->stack[i] - 1))
        return true;
  return false;
}

static bool is_overlapped(const struct module *first,
                          const struct mprof_maps *m) {
  for (const struct module *x = first; x != NULL; x = x->next)
    for (size_t i = 0; i < m->len; i++)
      if (overlap(&x->map, &m->v[i]) && !is_same(&x->map, &m->v[i]))
        return true;
  return false;
}

static uintptr_t shown_at(const struct mprof_mapping *m) {
  if (epochs.next_shown == 0)
    epochs.next_shown = SHOWN_BASE;
  uintptr_t at = epochs.next_shown + m->start % SHOWN_UNIT;
  epochs.next_shown +=
      (m->start % SHOWN_UNIT + (m->limit - m->start) + 2 * SHOWN_UNIT - 1) /
      SHOWN_UNIT * SHOWN_UNIT;
  return at;
}

// Notes the unload in the file of the option persist.
static void note_unload(const struct module *x) {
  if (mprof_likely(x->note == NULL))
    return;
  __atomic_store_n(&x->note->shift, x->shown - x->map.start, __ATOMIC_RELAXED);
  __atomic_store_n(&x->note->to, x->map.to, __ATOMIC_RELEASE);
}

// Moves the modules that are no longer mapped to the list of unloaded modules.
// m has the current mappings. If `leaving` is not NULL, also moves the module
// of the mapping `leaving`, which is about to be unloaded.
static void retire_locked(const struct mprof_maps *m,
                          const struct mprof_mapping *leaving) {
  struct module **p = &epochs.now;
  struct module **end = epochs.past_end ? epochs.past_end : &epochs.past;
  struct module **first = end;
  while (*p != NULL) {
    struct module *x = *p;
    bool leaves = leaving != NULL && is_same(&x->map, leaving);
    if (is_loaded(x, m) && !leaves) {
      p = &x->next;
      continue;
    }
    *p = x->next;
    x->next = NULL;
    x->map.to = epochs.unloads + 1;
    x->shown = shown_at(&x->map);
    note_unload(x);
    *end = x;
    end = &x->next;
    epochs.past_len++;
  }
  epochs.past_end = end;
  if (*first == NULL)
    return;
  epochs.unloads++;
  mprof_unwind_forget();
  uint64_t marked = mprof_unload_mark(epochs.unloads, was_in, *first);
  // If another module is already mapped at the addresses of an unloaded module,
  // events of the new module may have been counted for the unloaded module.
  if (is_overlapped(*first, m))
    mprof_stat_add(MPROF_STAT_late_unloads, marked);
}

// --- mapped modules ---

static struct module *find_loaded(const struct mprof_mapping *v) {
  for (struct module *x = epochs.now; x != NULL; x = x->next)
    if (overlap(&x->map, v) && is_same(&x->map, v))
      return x;
  return NULL;
}

// Adds a note with the module to the file of the option persist, if there is
// one.
static struct mprof_persist_module *add_note(const struct mprof_mapping *m) {
  if (mprof_likely(mprof_persist_head == NULL))
    return NULL;
  struct mprof_persist_module note = {.start = m->start,
                                      .limit = m->limit,
                                      .offset = m->offset,
                                      .bias = m->bias,
                                      .from = m->from,
                                      .to = MPROF_EPOCH_NOW};
  memcpy(note.build_id, m->build_id, sizeof(note.build_id));
  memcpy(note.file, m->file, sizeof(note.file));
  return mprof_persist_note(MPROF_NOTE_MODULE, &note, sizeof(note), NULL, 0);
}

static void note_locked(struct mprof_maps *m) {
  for (size_t i = 0; i < m->len; i++) {
    struct mprof_mapping *v = &m->v[i];
    // These values say that the mapping belongs only to buckets whose field
    // gone is 0. For mappings of files, `from` is set again below.
    v->from = v->to = MPROF_EPOCH_NOW;
    if (!is_file(v))
      continue;
    struct module *x = find_loaded(v);
    if (x == NULL) {
      x = mprof_persistent_alloc(sizeof(*x));
      if (x == NULL)
        continue;
      x->map = *v;
      x->map.from = epochs.unloads;
      x->map.noted_ns = mprof_sys_realtime_ns();
      x->note = add_note(&x->map);
      x->next = epochs.now;
      epochs.now = x;
    }
    v->from = x->map.from;
    v->noted_ns = x->map.noted_ns;
  }
}

static const struct mprof_mapping *find_same(const struct mprof_maps *m,
                                             const struct module *x) {
  for (size_t i = 0; x->map.build_id[0] != '\0' && i < m->len; i++)
    if (m->v[i].start == x->map.start && is_same(&m->v[i], &x->map))
      return &m->v[i];
  return NULL;
}

// Appends the unloaded modules to m. The array m->v has room for the current
// mappings only, so it is replaced by a larger array.
static int append_past_locked(struct mprof_maps *m) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_UNLOADS));
  if (epochs.past_len == 0)
    return 0;
  size_t bytes = (m->len + epochs.past_len + 1) * sizeof(*m->v);
  struct mprof_mapping *v = mprof_os_map(bytes);
  if (v == NULL)
    return -ENOMEM;
  memcpy(v, m->v, m->len * sizeof(*v));
  struct mprof_mapping *p = v + m->len;
  for (const struct module *x = epochs.past; x != NULL; x = x->next, p++) {
    *p = x->map;
    // If the same file was loaded again at the same address, do not shift the
    // addresses. Readers find the same code in the new mapping.
    if (find_same(m, x) != NULL)
      continue;
    p->shift = x->shown - p->start;
    p->start += p->shift;
    p->limit += p->shift;
    p->bias += p->shift;
  }
  *p = m->v[m->len]; // of code made at run time
  mprof_os_unmap(m->v, m->mapped_bytes);
  m->v = v;
  m->mapped_bytes = bytes;
  m->past_len = epochs.past_len;
  return 0;
}

// Guarded by writer_lock. v is NULL: no list is kept.
static struct mprof_maps kept;

static int read_maps(struct mprof_maps *m) {
  // Read the mappings with the lock held. Otherwise this thread could record
  // its older mappings after another thread has recorded newer mappings.
  mprof_lock_acquire(&epochs.lock);
  int error = mprof_maps_read(m);
  if (error == 0) {
    retire_locked(m, NULL);
    note_locked(m);
    error = append_past_locked(m);
  }
  mprof_lock_release(&epochs.lock);
  if (error != 0)
    mprof_maps_free(m);
  return error;
}

int mprof_unloads_read(struct mprof_maps *m) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  return kept.v != NULL ? mprof_maps_copy(m, &kept) : read_maps(m);
}

int mprof_unloads_keep(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE) && kept.v == NULL);
  return read_maps(&kept);
}

void mprof_unloads_drop(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  mprof_maps_free(&kept);
}

static void look_locked(void) {
  struct mprof_maps m;
  if (mprof_maps_read(&m) == 0) {
    retire_locked(&m, NULL);
    note_locked(&m);
  }
  mprof_maps_free(&m);
}

void mprof_unloads_look(void) {
  mprof_lock_acquire(&epochs.lock);
  look_locked();
  mprof_lock_release(&epochs.lock);
}

// --- the modules of new buckets ---

// Regions of 64 KiB with code that is in no module, as the last buckets had it.
// Code of just-in-time compilers is such code. Guarded by modules_lock.
enum { UNKNOWN = 64, REGION_BITS = 16 };
static struct {
  uintptr_t regions[UNKNOWN];
  unsigned next;
} unknown;

static bool is_known_locked(uintptr_t addr) {
  if (mprof_python_has(addr))
    return true;
  for (const struct module *x = epochs.now; x != NULL; x = x->next)
    if (holds(&x->map, addr))
      return true;
  for (size_t i = 0; i < UNKNOWN; i++)
    if (unknown.regions[i] == addr >> REGION_BITS)
      return true;
  return false;
}

static bool knows_all_locked(const struct mprof_bucket *b) {
  for (uint32_t i = 0; i < b->stack_len; i++)
    if (!is_known_locked(b->stack[i] - 1))
      return false;
  return true;
}

void mprof_unloads_meet(const struct mprof_bucket *b) {
  mprof_lock_acquire(&epochs.lock);
  if (!knows_all_locked(b)) {
    look_locked();
    for (uint32_t i = 0; i < b->stack_len; i++)
      if (!is_known_locked(b->stack[i] - 1))
        unknown.regions[unknown.next++ % UNKNOWN] =
            (b->stack[i] - 1) >> REGION_BITS;
  }
  mprof_lock_release(&epochs.lock);
}

void mprof_unloads_leave(uintptr_t inside) {
  struct mprof_maps m;
  mprof_lock_acquire(&epochs.lock);
  if (mprof_maps_read(&m) == 0) {
    retire_locked(&m, NULL);
    note_locked(&m);
    const struct mprof_mapping *leaving = find_now(&m, inside);
    if (leaving != NULL && is_file(leaving))
      retire_locked(&m, leaving);
  }
  mprof_lock_release(&epochs.lock);
  mprof_maps_free(&m);
}

uint32_t mprof_unloads_unloads(void) {
  return atomic_load_explicit(&epochs.unloads, memory_order_relaxed);
}

void mprof_unloads_reset(void) {
  mprof_lock_reset(&epochs.lock);
  mprof_unload_marks_reset();
  epochs.now = epochs.past = NULL;
  epochs.past_end = NULL;
  epochs.past_len = 0;
  epochs.unloads = 0;
  epochs.next_shown = 0;
  memset(&unknown, 0, sizeof(unknown));
  kept = (struct mprof_maps){0};
}
