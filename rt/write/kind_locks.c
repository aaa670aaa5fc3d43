// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile locks: the rows of contention.h. The stack of a sample is that of
// the waiter, and below it those of the release and of the acquisition of the
// holder, and that of the allocation of the block with the lock, if known:
//
//   pthread_mutex_lock, ..., main, [released in], pthread_mutex_unlock, ...,
//   main, [taken in], pthread_mutex_lock, ..., main, [lock made in], ..., main

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "file/outfile.h"
#include "heap/livemap.h"
#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "lock_wait/lock_order.h"
#include "sys/clock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/scale.h"
#include "sys/sort.h"
#include "write/legacy.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

#include <errno.h>

struct row {
  const struct mprof_bucket *waiter, *release, *taken; // NULL: not known
  int64_t count;
  uint64_t ticks, held, held_waiting, worst;
  uint32_t queue;
  int64_t ns; // of ticks
  // The allocation of the counted block that contains the lock, and the lock's
  // offset in the block. NULL: not known.
  const struct mprof_bucket *made;
  uintptr_t offset;
};

struct locks_copy {
  struct row **rows; // sorted by stacks; the rows follow the pointers in memory
  size_t len, cap, mapped_bytes;
  int64_t time_ns, duration_ns;
  uint64_t fraction;
  int64_t count; // sum
};

// --- the copy ---

static int allocate(struct locks_copy *c, size_t cap) {
  c->len = 0;
  c->cap = cap;
  c->mapped_bytes = cap * (sizeof(struct row) + sizeof(struct row *));
  c->rows = cap == 0 ? NULL : mprof_os_map(c->mapped_bytes);
  return cap != 0 && c->rows == NULL ? -ENOMEM : 0;
}

static void release(void *copy) {
  struct locks_copy *c = copy;
  if (c->rows != NULL)
    mprof_os_unmap(c->rows, c->mapped_bytes);
  c->rows = NULL;
}

static struct row *new_row(struct locks_copy *c) {
  if (c->len == c->cap)
    return NULL;
  struct row *r = (struct row *)(c->rows + c->cap) + c->len;
  return c->rows[c->len++] = r;
}

static uint64_t load(const _Atomic uint64_t *v) {
  return atomic_load_explicit(v, memory_order_relaxed);
}

static void add(const struct mprof_pair *p, void *copy) {
  struct row *r = new_row(copy);
  if (r != NULL)
    *r = (struct row){
        .waiter = mprof_persistent_pointer(p->waiter),
        .release = mprof_persistent_pointer(p->release),
        .taken = mprof_persistent_pointer(p->taken),
        .count = mprof_int64(load(&p->count)),
        .ticks = load(&p->ticks),
        .held = load(&p->held),
        .held_waiting = load(&p->held_waiting),
        .worst = load(&p->worst),
        .queue = atomic_load_explicit(&p->queue, memory_order_relaxed)};
}

// Returns -1, 0 or 1.
static int compare(const struct row *x, const struct row *y) {
  const uintptr_t a[] = {(uintptr_t)x->waiter, (uintptr_t)x->release,
                         (uintptr_t)x->taken};
  const uintptr_t b[] = {(uintptr_t)y->waiter, (uintptr_t)y->release,
                         (uintptr_t)y->taken};
  for (int i = 0; i < 3; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

static bool comes_before(const void *x, const void *y) {
  return compare(x, y) < 0;
}

// Returns the nanoseconds as the block profile does (mprof_wait_ns).
static int64_t ns_of(uint64_t ticks, uint64_t rate) {
  return mprof_int64(mprof_mul_div(ticks, 1000000000, rate, 0));
}

// Sets the nanoseconds of the sorted rows so that those of a waiter add up to
// the nanoseconds of its ticks, which the block profile shows.
static void convert(struct locks_copy *c) {
  const uint64_t rate = c->len != 0 ? mprof_clock_ticks_per_second() : 0;
  uint64_t ticks = 0;
  for (size_t i = 0; i < c->len; i++) {
    struct row *r = c->rows[i];
    if (i == 0 || r->waiter != c->rows[i - 1]->waiter)
      ticks = 0;
    r->ns = ns_of(ticks + r->ticks, rate) - ns_of(ticks, rate);
    ticks += r->ticks;
  }
}

static bool is_of_condition(const struct mprof_bucket *b) {
  return b != NULL && b->kind == MPROF_KIND_cond;
}

static uintptr_t lock_of(const struct row *r) {
  if (r->release != NULL && r->release->object != 0)
    return r->release->object;
  return r->waiter != NULL && !is_of_condition(r->waiter) ? r->waiter->object
                                                          : 0;
}

// Finds the counted block that contains the lock of the row. A lock farther
// from the begin of its block has none.
static void find_block(struct row *r) {
  enum { FARTHEST = 4096 };
  const uintptr_t lock = lock_of(r);
  for (uintptr_t at = lock & ~(uintptr_t)15;
       lock != 0 && !mprof_live_needs_guard(at) && lock - at <= FARTHEST;
       at -= 16) {
    const struct mprof_cell *cell =
        mprof_persistent_pointer(mprof_live_find(at));
    if (cell == NULL)
      continue;
    const struct mprof_bucket *b = mprof_cell_bucket(cell);
    if (lock - at < b->size) {
      r->made = b;
      r->offset = lock - at;
    }
    return;
  }
}

static int take(const struct mprof_profile_request *r) {
  struct locks_copy *c = r->copy;
  c->time_ns = mprof_sys_realtime_ns();
  c->fraction = load(&mprof_contention.mutex_fraction);
  int error = allocate(c, mprof_pairs_count());
  if (error != 0)
    return error;
  mprof_pairs_each(add, c);
  mprof_sort((void **)c->rows, c->len, comes_before);
  convert(c);
  for (size_t i = 0; i < c->len; i++) {
    c->count += c->rows[i]->count;
    find_block(c->rows[i]);
  }
  return 0;
}

// --- the file ---

enum { LOCK, KIND, WAITER, HOLDER, WORST, QUEUE, OFFSET, KEYS };

// Returns how a stack takes an rwlock. The leaf is the hooked function.
static const char *access_of(const struct mprof_bucket *b) {
  return b->stack_len != 0 && mprof_op_reads(b->stack[0] - mprof_op_pc(0))
             ? "reader"
             : "writer";
}

static size_t list_labels(struct mprof_pprof *w, const struct row *r,
                          const uint64_t *keys, struct mprof_pprof_label *v) {
  const struct mprof_bucket *b = r->release != NULL ? r->release : r->waiter;
  const uintptr_t lock = lock_of(r);
  size_t n = 0;
#define PUT(Key, Text)                                                         \
  v[n++] = (struct mprof_pprof_label) {                                        \
    .key = keys[Key], .str = mprof_pprof_string(w, (Text))                     \
  }
  const uint8_t kind =
      b == NULL || is_of_condition(b) ? MPROF_KIND_mutex : b->kind;
  if (b != NULL)
    PUT(KIND, mprof_kind_name(kind));
  if (lock != 0) {
    char text[MPROF_LOCK_NAME + 32];
    struct mprof_text t = MPROF_TEXT(text);
    mprof_lock_label(&t, lock);
    PUT(LOCK, text);
  }
  if (kind == MPROF_KIND_rwlock && r->waiter != NULL)
    PUT(WAITER, access_of(r->waiter));
  if (kind == MPROF_KIND_rwlock && r->taken != NULL)
    PUT(HOLDER, access_of(r->taken));
#undef PUT
  v[n++] =
      (struct mprof_pprof_label){.key = keys[WORST],
                                 .num = (int64_t)mprof_clock_ns(r->worst),
                                 .unit = mprof_pprof_string(w, "nanoseconds")};
  v[n++] = (struct mprof_pprof_label){.key = keys[QUEUE],
                                      .num = (int64_t)r->queue,
                                      .unit = mprof_pprof_string(w, "threads")};
  if (r->made != NULL)
    v[n++] = (struct mprof_pprof_label){.key = keys[OFFSET],
                                        .num = (int64_t)r->offset,
                                        .unit = mprof_pprof_string(w, "bytes")};
  return n;
}

static void put_sample(struct mprof_pprof *w, const void *copy, size_t i,
                       const uint64_t *keys) {
  const struct locks_copy *c = copy;
  const struct row *r = c->rows[i];
  struct mprof_pprof_label labels[KEYS];
  const int64_t values[] = {(int64_t)mprof_clock_ns(r->held),
                            (int64_t)mprof_clock_ns(r->held_waiting), r->count,
                            r->ns};
  struct mprof_pprof_part parts[MPROF_PPROF_PARTS] = {
      {r->waiter != NULL ? NULL : "[unknown waiter]", r->waiter},
      {r->release != NULL ? "[released in]" : "[no release]", r->release}};
  size_t parts_len = 2;
  if (r->taken != NULL)
    parts[parts_len++] = (struct mprof_pprof_part){"[taken in]", r->taken};
  if (r->made != NULL)
    parts[parts_len++] = (struct mprof_pprof_part){"[lock made in]", r->made};
  const size_t n = list_labels(w, r, keys, labels);
  mprof_pprof_sample_joined(w, parts, parts_len, values, labels, n);
}

static int write_copy(struct mprof_outfile *f, const struct locks_copy *c) {
  const struct mprof_pprof_head head = {
      .types = {{"held", "nanoseconds"},
                {"held_waiting", "nanoseconds"},
                {"contentions", "count"},
                {"delay", "nanoseconds"}},
      .types_len = 4,
      .period_type = {"contentions", "count"},
      .period = 1,
      .time_ns = c->time_ns,
      .duration_ns = c->duration_ns,
      .rate_name = "mutex_fraction",
      .rate = c->fraction};
  return mprof_pprof_write(
      f, &head,
      &(struct mprof_pprof_samples){c,
                                    c->len,
                                    {[LOCK] = "lock",
                                     [KIND] = "kind",
                                     [WAITER] = "waiter_access",
                                     [HOLDER] = "holder_access",
                                     [WORST] = "worst_wait",
                                     [QUEUE] = "longest_queue",
                                     [OFFSET] = "lock_offset"},
                                    put_sample});
}

// --- legacy text ---
//
// The records are those of a block profile, with the stacks of the waiters.
// What else is known of a row is in comments.

static void put_number(struct mprof_outfile *f, const char *name, uint64_t n) {
  mprof_outfile_text(f, name);
  mprof_outfile_dec(f, n);
}

static void put_row(struct mprof_legacy *w, const struct row *r) {
  mprof_outfile_dec(w->out, r->ticks);
  put_number(w->out, " ", (uint64_t)r->count);
  mprof_outfile_text(w->out, " @");
  if (r->waiter != NULL)
    mprof_legacy_stack(w, r->waiter);
  else
    mprof_outfile_text(w->out, " 0x1\n#\t[unknown waiter]\n\n");
  put_number(w->out, "# worst wait = ", mprof_clock_ns(r->worst));
  put_number(w->out, " ns, longest queue = ", r->queue);
  put_number(w->out, ", held = ", mprof_clock_ns(r->held));
  put_number(w->out, " ns, held while such waiters waited = ",
             mprof_clock_ns(r->held_waiting));
  mprof_outfile_text(w->out, r->release != NULL ? " ns\n# released in @"
                                                : " ns\n# no release\n\n");
  if (r->release != NULL)
    mprof_legacy_stack(w, r->release);
  if (r->taken != NULL) {
    mprof_outfile_text(w->out, "# taken in @");
    mprof_legacy_stack(w, r->taken);
  }
}

static void put_text(struct mprof_legacy *w, const void *copy) {
  const struct locks_copy *c = copy;
  put_number(w->out,
             "--- contention:\ncycles/second=", mprof_clock_ticks_per_second());
  mprof_outfile_text(w->out, "\n");
  for (size_t i = 0; i < c->len && w->out->error == 0; i++)
    put_row(w, c->rows[i]);
  mprof_legacy_stats(w);
  put_number(w->out, "# mutex_fraction = ", c->fraction);
  mprof_outfile_text(w->out, "\n");
}

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  const struct locks_copy *c = r->copy;
  return r->form == MPROF_FORM_TEXT
             ? mprof_legacy_write(f, c->len > 0, put_text, c)
             : write_copy(f, c);
}

// --- differences ---

// The longest queue is that since the start of the process. So is the worst
// wait, unless it is longer than all waits of the difference together.
static int write_delta(struct mprof_outfile *f,
                       const struct mprof_profile_request *r, void *before,
                       bool keeps_present) {
  const struct locks_copy *c = r->copy, *b = before;
  struct locks_copy d = *c;
  (void)keeps_present;
  d.duration_ns = c->time_ns - b->time_ns;
  int error = allocate(&d, c->len);
  if (error != 0)
    return mprof_outfile_fail(f, error);
  for (size_t i = 0, k = 0; i < c->len; i++) {
    while (k < b->len && compare(b->rows[k], c->rows[i]) < 0)
      k++;
    struct row x = *c->rows[i];
    if (k < b->len && compare(b->rows[k], &x) == 0) {
      x.count -= b->rows[k]->count;
      x.ticks -= b->rows[k]->ticks;
      x.held -= b->rows[k]->held;
      x.held_waiting -= b->rows[k]->held_waiting;
      if (x.worst > x.ticks)
        x.worst = x.ticks;
    }
    if (x.count != 0)
      *new_row(&d) = x;
  }
  convert(&d);
  error = write_copy(f, &d);
  release(&d);
  return error;
}

// --- the kind ---

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  (void)number;
  return mprof_pairs_count();
}

static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return mprof_pairs_count() != 0;
}

static bool has_rows(const void *copy) {
  const struct locks_copy *c = copy;
  return c->len != 0;
}

static bool is_shown(const void *copy, void *const *copies) {
  (void)copies;
  return has_rows(copy);
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct locks_copy *c = copy;
  (void)part;
  mprof_put_things_and_stacks(t, (uint64_t)c->count, "wait", c->len);
}

const struct mprof_profile_kind mprof_kind_locks = {
    .copy_bytes = sizeof(struct locks_copy),
    .last_form = MPROF_FORM_TEXT,
    .take = take,
    .free = release,
    .write = write,
    .write_delta = write_delta,
    .count = count,
    .has_data = has_data,
    .is_shown = is_shown,
    .has_stacks = has_rows,
    .put_numbers = put_numbers,
};
