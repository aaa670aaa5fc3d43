// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the built-in profiles in the format profile.proto. This file defines
// the values and labels of a sample of each profile, and pprof.c encodes them.
// The names, the order and the scaling of the values are those of Go.
// (Go: writeHeapProto, printCountCycleProfile, printCountProfile)

#include "write/write_pprof.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "lock_wait/hooked.h"
#include "lock_wait/lock_names.h"
#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "snapshot/stack_groups.h"
#include "stuck/stuck_types.h"
#include "symbolize/drop_frames.h"
#include "sys/message.h"
#include "thread/proc_threads.h"
#include "thread_stacks/thread_slots.h"
#include "write/pprof.h"
#include "write/write_stuck.h"

static int64_t at_least_0(int64_t v) { return v < 0 ? 0 : v; }

// Subtracts the values of the earlier snapshot from the values of sample i.
// Returns whether a value is left.
static bool subtract_before(int64_t values[4],
                            const struct mprof_mem_snapshot *m, size_t i) {
  const struct mprof_mem_sample *b = mprof_mem_sample_before(m, i);
  if (b != NULL) {
    const struct mprof_mem_estimate e = mprof_mem_scale(b);
    values[0] -= at_least_0(e.alloc_objects);
    values[1] -= at_least_0(e.alloc_bytes);
    values[2] -= m->keeps_inuse ? 0 : at_least_0(e.inuse_objects);
    values[3] -= m->keeps_inuse ? 0 : at_least_0(e.inuse_bytes);
  }
  return values[0] != 0 || values[1] != 0 || values[2] != 0 || values[3] != 0;
}

// Indices of the label keys of heap profiles.
enum { MEM_BYTES, MEM_RATE };
#define MEM_KEYS {[MEM_BYTES] = "bytes", [MEM_RATE] = "heap_rate"}

// Writes a sample with the size of its blocks as a label. The error of the
// values depends on the rate at which the blocks were sampled. If this is not
// the profile's period, because the rate changed, the rate is a label, too.
static void put_blocks(struct mprof_pprof *w,
                       const struct mprof_mem_snapshot *m,
                       const struct mprof_bucket *b, const int64_t *values,
                       const uint64_t *keys) {
  struct mprof_pprof_label labels[2];
  size_t n = 0;
  if (b->size != 0)
    labels[n++] = (struct mprof_pprof_label){.key = keys[MEM_BYTES],
                                             .num = (int64_t)b->size};
  if (b->rate != m->rate)
    labels[n++] = (struct mprof_pprof_label){
        .key = keys[MEM_RATE], .num = b->rate, .unit = keys[MEM_BYTES]};
  mprof_pprof_sample(w, b, values, labels, n);
}

static void put_mem(struct mprof_pprof *w, const void *snapshot, size_t i,
                    const uint64_t *keys) {
  const struct mprof_mem_snapshot *m = snapshot;
  const struct mprof_mem_sample *s = &m->samples[i];
  if (s->allocs == 0 && s->frees == 0)
    return;
  struct mprof_mem_estimate e = mprof_mem_scale(s);
  int64_t values[] = {at_least_0(e.alloc_objects), at_least_0(e.alloc_bytes),
                      at_least_0(e.inuse_objects), at_least_0(e.inuse_bytes)};
  if (m->before != NULL && !subtract_before(values, m, i))
    return;
  put_blocks(w, m, s->bucket, values, keys);
}

static int write_heap(struct mprof_outfile *f,
                      const struct mprof_mem_snapshot *s,
                      const char *default_type, const char *note) {
  const struct mprof_pprof_head head = {
      .types = {{"alloc_objects", "count"},
                {"alloc_space", "bytes"},
                {"inuse_objects", "count"},
                {"inuse_space", "bytes"}},
      .types_len = 4,
      .period_type = {"space", "bytes"},
      .period = s->rate,
      .default_type = default_type,
      .time_ns = s->time_ns,
      .duration_ns = s->before == NULL ? 0 : s->time_ns - s->before->time_ns,
      .rate_name = "heap_rate",
      .rate = s->rate,
      .note = note,
      .drops_allocators = true};
  return mprof_pprof_write(
      f, &head, &(struct mprof_pprof_samples){s, s->len, MEM_KEYS, put_mem});
}

int mprof_write_heap_pprof(struct mprof_outfile *f,
                           const struct mprof_mem_snapshot *s,
                           bool allocs_first) {
  // mprof leaks compares this number with the storage that libc keeps for
  // threads.
  char note[40];
  struct mprof_text t = MPROF_TEXT(note);
  mprof_text_str(&t, "threads_now: ");
  mprof_text_dec(&t, mprof_proc_thread_count());
  return write_heap(f, s, allocs_first ? "alloc_space" : NULL, note);
}

int mprof_write_peak_pprof(struct mprof_outfile *f,
                           const struct mprof_mem_snapshot *s) {
  return write_heap(f, s, NULL, "moment: the peak of the memory in use");
}

// --- heapx ---

static void put_heapx(struct mprof_pprof *w, const void *snapshot, size_t i,
                      const uint64_t *keys) {
  const struct mprof_mem_snapshot *m = snapshot;
  const struct mprof_mem_sample *s = &m->samples[i];
  if (m->heapx == NULL)
    return;
  struct mprof_heapx_estimate e = mprof_heapx_scale(s, &m->heapx[i]);
  if (!mprof_heapx_has_any(&e))
    return;
  const int64_t values[] = {
      e.temporary_objects, e.temporary_bytes,   e.in_place,         e.moved,
      e.copied_bytes,      e.alloc_slack_bytes, e.inuse_slack_bytes};
  put_blocks(w, m, s->bucket, values, keys);
}

int mprof_write_heapx_pprof(struct mprof_outfile *f,
                            const struct mprof_mem_snapshot *s) {
  const struct mprof_pprof_head head = {
      .types = {{"temporary_objects", "count"},
                {"temporary_space", "bytes"},
                {"in_place", "count"},
                {"moved", "count"},
                {"copied_space", "bytes"},
                {"alloc_slack_space", "bytes"},
                {"slack_space", "bytes"}},
      .types_len = 7,
      .period_type = {"space", "bytes"},
      .period = s->rate,
      .default_type = "temporary_objects",
      .time_ns = s->time_ns,
      .rate_name = "heap_rate",
      .rate = s->rate,
      .drops_allocators = true};
  return mprof_pprof_write(
      f, &head, &(struct mprof_pprof_samples){s, s->len, MEM_KEYS, put_heapx});
}

// --- waits ---

// Stores the name of the lock `object` as a label in *label. Returns the number
// of labels: 1, or 0 if object is 0.
static size_t put_lock(struct mprof_pprof *w, struct mprof_pprof_label *label,
                       uint64_t key, uintptr_t object) {
  if (object == 0)
    return 0;
  char text[MPROF_LOCK_NAME + 32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_lock_label(&t, object);
  *label = (struct mprof_pprof_label){.key = key,
                                      .str = mprof_pprof_string(w, text)};
  return 1;
}

// Indices of the label keys in mprof_pprof_samples.keys.
enum { WAIT_LOCK, WAIT_KIND };

static void put_wait(struct mprof_pprof *w, const void *snapshot, size_t i,
                     const uint64_t *keys) {
  const struct mprof_wait_snapshot *s = snapshot;
  const struct mprof_wait_sample *x = &s->samples[i];
  const struct mprof_bucket *b = x->bucket;
  const int64_t values[] = {x->count, mprof_wait_ns(s, x->cycles)};
  struct mprof_pprof_label labels[2] = {
      {.key = keys[WAIT_KIND],
       .str = mprof_pprof_string(w, mprof_kind_name(b->kind))}};
  const size_t n = 1 + put_lock(w, &labels[1], keys[WAIT_LOCK], b->object);
  mprof_pprof_sample(w, b, values, labels, n);
}

int mprof_write_wait_pprof(struct mprof_outfile *f,
                           const struct mprof_wait_snapshot *s) {
  const struct mprof_pprof_head head = {
      .types = {{"contentions", "count"}, {"delay", "nanoseconds"}},
      .types_len = 2,
      .period_type = {"contentions", "count"},
      .period = 1,
      .time_ns = s->time_ns,
      .duration_ns = s->duration_ns,
      .rate_name =
          s->type == MPROF_BUCKET_BLOCK ? "block_rate" : "mutex_fraction",
      .rate = s->rate};
  return mprof_pprof_write(
      f, &head,
      &(struct mprof_pprof_samples){
          s, s->len, {[WAIT_LOCK] = "lock", [WAIT_KIND] = "kind"}, put_wait});
}

// --- threads ---

static void put_thread(struct mprof_pprof *w, const void *snapshot, size_t i,
                       const uint64_t *thread_key) {
  const struct mprof_threadcreate_sample *x =
      &((const struct mprof_threadcreate_snapshot *)snapshot)->samples[i];
  const int64_t count = (int64_t)x->count;
  const struct mprof_pprof_label name = {.key = *thread_key,
                                         .str = mprof_pprof_string(w, x->name)};
  mprof_pprof_sample(w, x->bucket, &count, &name, name.str != 0);
}

int mprof_write_threadcreate_pprof(
    struct mprof_outfile *f, const struct mprof_threadcreate_snapshot *s) {
  const struct mprof_pprof_head head = {
      .types = {{"threadcreate", "count"}},
      .types_len = 1,
      .period_type = {"threadcreate", "count"},
      .period = 1,
      .time_ns = s->time_ns,
      .duration_ns = s->duration_ns,
      .rate_name = s->duration_ns == 0 ? "live_threads" : NULL,
      .rate = s->live,
      .empty_stack = MPROF_UNKNOWN_CREATOR};
  return mprof_pprof_write(
      f, &head,
      &(struct mprof_pprof_samples){s, s->len, {"thread"}, put_thread});
}

enum { STACK_STATE, STACK_KIND, STACK_GRADE, STACK_LOCK, STACK_HOLDER };

// Stores the id of the thread that holds a lock as a label in *label. Returns
// the number of labels: 1, or 0 if holder is 0.
static size_t put_holder(struct mprof_pprof *w, struct mprof_pprof_label *label,
                         uint64_t key, int holder) {
  if (holder == 0)
    return 0;
  char text[32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "thread ");
  mprof_text_dec(&t, (uint64_t)holder);
  *label = (struct mprof_pprof_label){.key = key,
                                      .str = mprof_pprof_string(w, text)};
  return 1;
}

// Writes the stack of a thread as a sample. The sample of a waiting thread has
// the label "kind", with the same values as in the block profile. The sample of
// a stuck thread also has the label "grade", and the label "lock" if the lock
// is known, and the label "holder" if one known thread holds this lock.
static void put_stack(struct mprof_pprof *w, const void *stacks, size_t i,
                      const uint64_t *keys) {
  const struct mprof_thread_slot *x =
      ((const struct mprof_thread_stacks *)stacks)->v[i];
  static const char *const states[] = {[MPROF_STACK_OF_RUNNING] = "running",
                                       [MPROF_STACK_OF_WAITING] = "waiting",
                                       [MPROF_STACK_IN_FUTEX] = "waiting",
                                       [MPROF_STACK_UNREAD] = "unread"};
  const int64_t count = (int64_t)x->count;
  const bool is_unseen = x->source == MPROF_STACK_IN_FUTEX;
  const bool waits = x->source == MPROF_STACK_OF_WAITING || is_unseen;
  const char *kind =
      waits ? mprof_kind_name(is_unseen ? MPROF_KIND_futex : x->kind) : "";
  const char *grade = mprof_stuck_grade_name(x->grade);
  struct mprof_pprof_label labels[5] = {
      {.key = keys[STACK_STATE],
       .str = mprof_pprof_string(w, states[x->source])},
      {.key = keys[STACK_KIND], .str = mprof_pprof_string(w, kind)},
      {.key = keys[STACK_GRADE], .str = mprof_pprof_string(w, grade)}};
  size_t n = x->grade ? 3 : waits ? 2 : 1;
  n += put_lock(w, &labels[n], keys[STACK_LOCK], x->stack->object);
  n += put_holder(w, &labels[n], keys[STACK_HOLDER], x->holder);
  mprof_pprof_sample(w, x->stack, &count, labels, n);
}

int mprof_write_threads_pprof(struct mprof_outfile *f,
                              const struct mprof_thread_stacks *s,
                              const char *name) {
  char unseen[MPROF_UNSEEN_TEXT];
  const struct mprof_pprof_head head = {.types = {{name, "count"}},
                                        .types_len = 1,
                                        .period_type = {name, "count"},
                                        .period = 1,
                                        .time_ns = s->time_ns,
                                        .duration_ns = s->duration_ns,
                                        .note = mprof_unseen_text(unseen, s),
                                        .empty_stack = "[unknown]"};
  return mprof_pprof_write(
      f, &head,
      &(struct mprof_pprof_samples){s,
                                    s->len,
                                    {[STACK_STATE] = "state",
                                     [STACK_KIND] = "kind",
                                     [STACK_GRADE] = "grade",
                                     [STACK_LOCK] = "lock",
                                     [STACK_HOLDER] = "holder"},
                                    put_stack});
}
