// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes snapshots of the profile "threadcreate": the threads, and the stacks
// that created them. The names of live threads are read from /proc. No lock
// keeps a thread alive meanwhile, so a thread may end before its name is read.
// (Go: threadCreateProfileInternal)

#include "bucket/bucket.h"
#include "snapshot/snapshot.h"
#include "sys/os.h"
#include "sys/sort.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"

#include <errno.h>
#include <string.h>

// Creation stack of threads whose creation was not recorded. The stack is
// empty.
static const struct mprof_bucket unknown = {.type = MPROF_BUCKET_THREAD};

static const struct mprof_bucket *origin(const struct mprof_bucket *created) {
  return created == NULL || created->stack_len == 0 ? &unknown : created;
}

// --- live threads ---

struct live {
  struct mprof_thread_info *v;
  size_t len, mapped_bytes;
};

static void free_live(struct live *l) {
  if (l->v != NULL)
    mprof_os_unmap(l->v, l->mapped_bytes);
  l->v = NULL;
}

// Adds thread `tid` to the list if the list does not have it yet. The list was
// filled from the registry, which lacks threads that have had no event.
static void add_thread(struct live *l, int tid) {
  for (size_t i = 0; i < l->len; i++)
    if (l->v[i].tid == tid)
      return;
  l->v[l->len++] = (struct mprof_thread_info){.tid = tid};
}

// Returns whether the first thread lives. It may have ended although the
// process lives.
static bool first_lives(int first, int self) {
  struct mprof_proc_thread p;
  return first == self || mprof_proc_thread(first, &p);
}

// Lists the threads of the registry, the first thread of the process and the
// calling thread.
static int list_live(struct live *l) {
  enum { OTHERS = 2 };
  size_t cap = 64;
  for (;;) {
    *l = (struct live){.mapped_bytes = (cap + OTHERS) * sizeof(*l->v)};
    l->v = mprof_os_map(l->mapped_bytes);
    if (l->v == NULL)
      return -ENOMEM;
    l->len = mprof_threads_list(l->v, cap);
    if (l->len <= cap)
      break;
    cap = l->len + 64; // room for threads that are created meanwhile
    free_live(l);
  }
  const int first = mprof_sys_getpid(), self = mprof_sys_gettid();
  if (first_lives(first, self))
    add_thread(l, first);
  if (!mprof_tls.is_own)
    add_thread(l, self);
  return 0;
}

// --- samples ---

static bool comes_by_stack(const void *a, const void *b) {
  const struct mprof_threadcreate_sample *x = a, *y = b;
  if (x->bucket != y->bucket)
    return (uintptr_t)x->bucket < (uintptr_t)y->bucket;
  if (x->name[0] == '\0' || y->name[0] == '\0') // named samples first
    return x->name[0] != '\0' && y->name[0] == '\0';
  return strcmp(x->name, y->name) < 0;
}

static bool has_more_threads(const void *a, const void *b) {
  const struct mprof_threadcreate_sample *x = a, *y = b;
  return x->count != y->count ? x->count > y->count : comes_by_stack(x, y);
}

static struct mprof_threadcreate_sample *
add(struct mprof_groups *g, const struct mprof_bucket *b, uint64_t count) {
  struct mprof_threadcreate_sample *s = mprof_groups_at(g, b);
  *s = (struct mprof_threadcreate_sample){.bucket = b, .count = count};
  return s;
}

static void gather_live(struct mprof_groups *g, const struct live *l) {
  for (size_t i = 0; i < l->len; i++) {
    struct mprof_threadcreate_sample *s = add(g, origin(l->v[i].created), 1);
    s->live = 1;
    if (!mprof_proc_thread_name(l->v[i].tid, s->name))
      g->len--;
  }
}

// Adds a sample for the ended threads of each bucket. A bucket counts all
// threads that its stack has created. This function subtracts the live threads,
// because gather_live has already added a sample for each of them.
static int gather_ended(struct mprof_groups *g,
                        const struct mprof_bucket *first, size_t most) {
  struct mprof_stack_index ix;
  struct mprof_threadcreate_sample *samples =
      (struct mprof_threadcreate_sample *)g->v;
  const size_t live = g->len;
  int error = mprof_stack_index_init(&ix, most, false);
  if (error != 0)
    return error;
  for (const struct mprof_bucket *b = first; b != NULL; b = b->allnext) {
    uint64_t created =
        atomic_load_explicit(&b->thread.created, memory_order_relaxed);
    add(g, origin(b), created);
    mprof_stack_index_get(&ix, b)->value = g->len;
  }
  for (size_t i = 0; i < live; i++) {
    const struct mprof_bucket *b = samples[i].bucket;
    size_t place = b == &unknown ? 0 : mprof_stack_index_get(&ix, b)->value;
    if (place != 0 && samples[place - 1].count > 0)
      samples[place - 1].count--;
  }
  mprof_stack_index_free(&ix);
  return 0;
}

static bool join_stack(void *into, const void *next) {
  struct mprof_threadcreate_sample *x = into;
  const struct mprof_threadcreate_sample *y = next;
  if (x->bucket != y->bucket)
    return false;
  x->count += y->count;
  x->live += y->live;
  return true;
}

static bool join_name(void *into, const void *next) {
  const struct mprof_threadcreate_sample *x = into, *y = next;
  return strcmp(x->name, y->name) == 0 && join_stack(into, next);
}

// Drops the samples that have no threads. Then merges samples:
// by_stack: true: all samples of a bucket; false: the samples of a bucket that
//   have equal names.
static void merge(struct mprof_groups *g, bool by_stack) {
  size_t len = 0;
  for (size_t i = 0; i < g->len; i++)
    if (((const struct mprof_threadcreate_sample *)g->sorted[i])->count != 0)
      g->sorted[len++] = g->sorted[i];
  g->len = mprof_join_neighbours(g->sorted, len, comes_by_stack,
                                 by_stack ? join_stack : join_name);
  mprof_sort(g->sorted, g->len, has_more_threads);
}

static int copy(struct mprof_threadcreate_snapshot *s,
                const struct mprof_groups *g) {
  if (g->len == 0)
    return 0;
  s->mapped_bytes = g->len * sizeof(*s->samples);
  s->samples = mprof_os_map(s->mapped_bytes);
  if (s->samples == NULL)
    return -ENOMEM;
  for (; s->len < g->len; s->len++) {
    s->samples[s->len] =
        *(const struct mprof_threadcreate_sample *)g->sorted[s->len];
    s->threads += s->samples[s->len].count;
    s->live += s->samples[s->len].live;
  }
  return 0;
}

static int take(struct mprof_threadcreate_snapshot *s, const struct live *l,
                bool by_stack) {
  const struct mprof_bucket *first = mprof_bucket_first(MPROF_BUCKET_THREAD);
  const size_t most = l->len + mprof_bucket_count(MPROF_BUCKET_THREAD);
  struct mprof_groups g;
  int error = mprof_groups_begin(
      &g, most, sizeof(struct mprof_threadcreate_sample), MPROF_BY_NOTHING);
  if (error != 0)
    return error;
  gather_live(&g, l);
  error = gather_ended(&g, first, most);
  if (error == 0) {
    merge(&g, by_stack);
    error = copy(s, &g);
  }
  mprof_groups_free(&g);
  return error;
}

int mprof_threadcreate_snapshot_take(struct mprof_threadcreate_snapshot *s,
                                     bool by_stack) {
  struct live l;
  *s = (struct mprof_threadcreate_snapshot){.time_ns = mprof_sys_realtime_ns()};
  int error = list_live(&l);
  if (error == 0)
    error = take(s, &l, by_stack);
  free_live(&l);
  return error;
}

int mprof_threadcreate_snapshot_subtract(
    struct mprof_threadcreate_snapshot *d,
    const struct mprof_threadcreate_snapshot *after,
    const struct mprof_threadcreate_snapshot *before) {
  struct mprof_groups g;
  *d = (struct mprof_threadcreate_snapshot){.time_ns = after->time_ns,
                                            .duration_ns = after->time_ns -
                                                           before->time_ns};
  int error = mprof_groups_begin(&g, after->len + before->len,
                                 sizeof(struct mprof_threadcreate_sample),
                                 MPROF_BY_NOTHING);
  if (error != 0)
    return error;
  for (size_t i = 0; i < after->len; i++)
    add(&g, after->samples[i].bucket, after->samples[i].count);
  for (size_t i = 0; i < before->len; i++)
    add(&g, before->samples[i].bucket, -before->samples[i].count);
  g.len = mprof_join_neighbours(g.sorted, g.len, comes_by_stack, join_stack);
  merge(&g, true); // omits the samples without a difference
  error = copy(d, &g);
  mprof_groups_end(&g);
  mprof_groups_free(&g);
  return error;
}

void mprof_threadcreate_snapshot_free(struct mprof_threadcreate_snapshot *s) {
  if (s->samples != NULL)
    mprof_os_unmap(s->samples, s->mapped_bytes);
  *s = (struct mprof_threadcreate_snapshot){0};
}
