// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of the counts of the profiles, which are taken without stopping the
// program, and sums of them by stack. The code that writes a profile reads
// these copies without a lock.

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_H

#include "bucket/bucket.h"
#include "bucket/heapx.h"
#include "sys/base.h"
#include "sys/clock.h"
#include "sys/os.h"
#include "sys/scale.h"

// --- groups ---
//
// Groups the samples of a snapshot, usually by stack. Buckets that differ in
// size, rate, kind or lock may have equal stacks. This module finds the group
// of a bucket and owns the memory of all groups. The caller defines the type of
// a group (here `struct sum`) and the function that adds a sample to a group
// (here `add`):
//
//   mprof_groups_begin(&g, most, sizeof(struct sum), MPROF_BY_STACK);
//   for each sample: add(mprof_groups_at(&g, sample->bucket), sample);
//   mprof_groups_end(&g);

// Selects the buckets that belong to the same group.
enum mprof_group_by {
  MPROF_BY_NOTHING, // each call of mprof_groups_at creates a group
  MPROF_BY_STACK,
  MPROF_BY_STACK_AND_LABELS
};

struct mprof_groups {
  char *v; // the groups in order of creation; each group has `each` bytes
  // Pointers to the groups, at first in the order of v. The caller may sort
  // these pointers. `len` is the number of groups.
  void **sorted;
  size_t len, each, mapped_bytes;
  enum mprof_group_by by;
  struct mprof_stack_index index; // freed by mprof_groups_end
};

// Allocates memory for at most `most` groups. The size of a group is `each`
// bytes, which must be a multiple of 8. Returns 0 or -ENOMEM. After success,
// call mprof_groups_end and later mprof_groups_free.
int mprof_groups_begin(struct mprof_groups *g, size_t most, size_t each,
                       enum mprof_group_by by);
// Returns the group of bucket b, and creates this group if needed. A new group
// is zeroed.
void *mprof_groups_at(struct mprof_groups *g, const struct mprof_bucket *b);
// Frees the index, which only mprof_groups_at needs. The groups remain.
void mprof_groups_end(struct mprof_groups *g);
void mprof_groups_free(struct mprof_groups *g);

// Groups the len elements of v without additional memory: sorts them, then
// merges equal neighbours.
// join: adds *next to *into and returns true, or returns false if the two
//   elements belong to different groups.
// Returns the number of elements that remain in v.
size_t mprof_join_neighbours(void **v, size_t len,
                             bool (*comes_before)(const void *, const void *),
                             bool (*join)(void *into, const void *next));

// The label sets of the samples that have the same stack.
struct mprof_stack_labels {
  // Label set of the largest sample with labels; 0: no sample has labels.
  uint16_t most;
  bool differ;    // true: the samples have different label sets
  uint16_t first; // label set of the first sample
  int64_t weight; // bytes or cycles of the sample whose label set is `most`
};

// Adds a sample of the stack. `labels` is the label set of the sample, and
// `weight` are the sample's bytes or cycles.
void mprof_stack_labels_add(struct mprof_stack_labels *l, uint16_t labels,
                            int64_t weight, bool is_first);

// --- heap ---
//
// A snapshot of the heap profile: a consistent copy of the published counts of
// all buckets. The code that writes a profile reads this copy without a lock.
// The counts are numbers of sampled blocks, from which the numbers of all
// blocks are estimated. Taking a snapshot may publish a cycle (counts.h), and
// does not change the buckets otherwise. (Go: memProfileInternal)

struct mprof_mem_sample {
  const struct mprof_bucket *bucket;
  uint64_t allocs, frees; // numbers of sampled blocks, not scaled
  // Estimated number of all blocks; set by mprof_estimate_objects.
  int64_t alloc_objects, inuse_objects;
};

// Returns the number of sampled blocks in use. An event near the end of a cycle
// may be counted one cycle early (counts.c). If this happens to the free of a
// block, but not to its allocation, frees may exceed allocs. The result is then
// 0, because a number of blocks cannot be negative.
static inline uint64_t mprof_mem_inuse(const struct mprof_mem_sample *s) {
  return s->allocs > s->frees ? s->allocs - s->frees : 0;
}

// The heapx counters (heapx.h) of one bucket.
struct mprof_heapx_sample {
  uint64_t n[MPROF_HEAPX_COUNTERS];
  const struct mprof_heapx_lives *lives; // of the bucket; or NULL
  // Estimated numbers of all blocks; set by mprof_estimate_objects.
  int64_t temporary_objects, in_place, moved;
};

struct mprof_mem_snapshot {
  struct mprof_mem_sample *samples; // sorted by age of the bucket, newest first
  // heapx[i] has the heapx counters of the bucket of samples[i]. NULL if the
  // option heapx is off.
  struct mprof_heapx_sample *heapx;
  size_t len;
  size_t mapped_bytes;
  uint64_t rate;   // heap sampling rate at the time of the snapshot, bytes
  int64_t time_ns; // time of the snapshot: nanoseconds of CLOCK_REALTIME
  // An earlier snapshot, whose values the writer of the profile subtracts.
  // NULL: none. keeps_inuse: the blocks in use are not subtracted.
  const struct mprof_mem_snapshot *before;
  bool keeps_inuse;
};

// Returns the sample of the earlier snapshot for the bucket of samples[i], or
// NULL if the bucket is newer than that snapshot. A snapshot has all buckets,
// newest first, so the earlier samples match the last samples of s.
static inline const struct mprof_mem_sample *
mprof_mem_sample_before(const struct mprof_mem_snapshot *s, size_t i) {
  const struct mprof_mem_snapshot *b = s->before;
  if (b == NULL || i + b->len < s->len)
    return NULL;
  const struct mprof_mem_sample *x = &b->samples[i + b->len - s->len];
  return x->bucket == s->samples[i].bucket ? x : NULL;
}

// Takes a snapshot of all buckets, including buckets whose blocks are all
// freed. Acquires active_lock.
// end_cycle: true: first ends the current cycle, which publishes all events up
//   to now.
// Returns 0 or -ENOMEM. Free *s with mprof_mem_snapshot_free. Call with the
// recursion guard set.
int mprof_mem_snapshot_take(struct mprof_mem_snapshot *s, bool end_cycle);
// Takes a snapshot of the heap at its peak (bucket/peak.h). Leaves out buckets
// without events before the peak. s->time_ns is the time of the peak, or the
// present time if no memory was in use yet. Call only with the option peak.
// Acquires peak_lock. Otherwise like mprof_mem_snapshot_take.
int mprof_mem_snapshot_take_peak(struct mprof_mem_snapshot *s);
void mprof_mem_snapshot_free(struct mprof_mem_snapshot *s);

// These functions return the published counts of bucket b: the number of
// allocated blocks, and the number of these blocks that were freed. Call them
// with active_lock held.
static inline uint64_t mprof_active_allocs(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->mem.active.allocs, memory_order_relaxed);
}
static inline uint64_t mprof_active_frees(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->mem.active.frees, memory_order_relaxed);
}
// Publishes the counts of finished cycles (counts.h), and stores in *n the
// number of buckets that a profile would show. Returns the newest bucket, which
// is the first of the list. Buckets that are added later do not belong to the
// profile. Call with active_lock held.
// Usually this function publishes only the cycle that mprof_cycle_advance has
// ended last, if its counts are not published yet. In two cases, the function
// publishes all events up to now:
// - Neither the program nor a garbage collector ends cycles. Otherwise the
//   profile would never change.
// - All published counts are still 0.
// inuse_zero: true: *n includes buckets whose blocks are all freed.
struct mprof_bucket *mprof_mem_publish_locked(bool inuse_zero, size_t *n);

// --- estimates of all blocks ---
//
// They are computed from the sampled blocks and the factors of sys/scale.h.

// Estimated numbers of a sample or of a sum of samples.
struct mprof_mem_estimate {
  int64_t alloc_objects, alloc_bytes, inuse_objects, inuse_bytes;
};
// Returns the estimate of sample s of a snapshot.
struct mprof_mem_estimate mprof_mem_scale(const struct mprof_mem_sample *s);

// The variances of the estimated bytes, in bytes squared. 0: the bytes are
// counted.
struct mprof_mem_variance {
  mprof_u128 alloc_bytes, inuse_bytes;
};
// Adds the variances of the estimate of sample s. Samples are independent, so
// the variance of a sum of samples is the sum of their variances.
void mprof_mem_add_variance(struct mprof_mem_variance *sum,
                            const struct mprof_mem_sample *s);

// Estimated numbers of the heapx profile (heapx.h).
struct mprof_heapx_estimate {
  int64_t temporary_objects, temporary_bytes;
  int64_t in_place, moved, copied_bytes;
  int64_t alloc_slack_bytes, inuse_slack_bytes;
};
// Returns the estimated heapx values for sample s. x: the heapx counters of the
// bucket of s.
struct mprof_heapx_estimate
mprof_heapx_scale(const struct mprof_mem_sample *s,
                  const struct mprof_heapx_sample *x);

// Fills in the estimated numbers of objects of all samples of the snapshot.
//
// A sample of a large block represents few blocks, for example 1.6. If each of
// 100 samples with this value were rounded to 2 by itself, their sum would be
// too large by 40. Therefore the samples of a stack are rounded one after
// another: the remainder of a sample is added to the next sample of the stack.
// The sum over the samples of a stack is off by less than one object. It is
// unbiased over many stacks, because a hash of the stack decides whether the
// sum is rounded up or down. No sample has more objects in use than allocated.
// Returns 0 or -ENOMEM.
int mprof_estimate_objects(struct mprof_mem_snapshot *s);

// --- sums of blocks by stack ---

struct mprof_heap_sum {
  const struct mprof_bucket *bucket; // a bucket with the stack of this group
  struct mprof_mem_estimate sum;
  struct mprof_mem_variance variance;
  uint64_t alloc_samples, inuse_samples;
  struct mprof_stack_labels labels;
};
struct mprof_heap_groups {
  struct mprof_groups groups;
  // Pointers to the len groups, in any order. The report sorts the pointers.
  struct mprof_heap_sum **sorted;
  size_t len;
  struct mprof_mem_estimate total;
  struct mprof_mem_variance variance; // of the total
  uint64_t samples, sample_frees;
};
// Groups the samples of s by stack, and stores the groups in *g. Returns 0 or
// -ENOMEM. Free g->groups with mprof_groups_free.
int mprof_heap_groups_make(struct mprof_heap_groups *g,
                           const struct mprof_mem_snapshot *s);

// --- waits ---
//
// A snapshot of the block, the mutex or the wall profile. The code that writes
// a profile reads the snapshot without a lock. This module does not scale the
// counts, because they were scaled when they were added to the buckets.

struct mprof_wait_sample {
  const struct mprof_bucket *bucket;
  int64_t count;  // estimated number of events; at least 1 in a block profile
  int64_t cycles; // estimated duration of the waits, in ticks (clock.h)
  int64_t cpu_ns; // wall profile: processor time
};

struct mprof_wait_snapshot {
  struct mprof_wait_sample *samples; // sorted by cycles, most cycles first
  size_t len;
  size_t mapped_bytes;
  enum mprof_bucket_type type;
  // Current block_rate in ns, mutex_fraction, or rounds per second (wall).
  uint64_t rate;
  // Number of cycles in a second. 0 in a snapshot without samples: measuring it
  // may take half a millisecond, which a process at its exit must not lose.
  uint64_t ticks_per_second;
  int64_t time_ns; // time of the snapshot: nanoseconds of CLOCK_REALTIME
  // A difference of two snapshots: the time between them in nanoseconds.
  // Otherwise 0.
  int64_t duration_ns;
};

// Takes a snapshot of all buckets that have events.
// type: MPROF_BUCKET_BLOCK, MPROF_BUCKET_MUTEX or MPROF_BUCKET_WALL.
// by_stack: true: buckets that have the same stack and different locks become
//   one sample, which refers to one of these buckets; false: one sample for
//   each bucket.
// Returns 0 or -ENOMEM. Free *s with mprof_wait_snapshot_free. Call with the
// recursion guard set. (Go: blockProfileInternal, mutexProfileInternal)
int mprof_wait_snapshot_take(struct mprof_wait_snapshot *s,
                             enum mprof_bucket_type type, bool by_stack);
// Makes the difference *d of two snapshots of the same type that were taken
// with by_stack == false: the values of `after` minus those of `before`.
// Returns 0 or -ENOMEM. Free *d with mprof_wait_snapshot_free.
int mprof_wait_snapshot_subtract(struct mprof_wait_snapshot *d,
                                 const struct mprof_wait_snapshot *after,
                                 const struct mprof_wait_snapshot *before);
void mprof_wait_snapshot_free(struct mprof_wait_snapshot *s);
// Returns the number of cycles in a second. Measures it if s has no samples.
static inline uint64_t
mprof_wait_ticks_per_second(const struct mprof_wait_snapshot *s) {
  return s->ticks_per_second != 0 ? s->ticks_per_second
                                  : mprof_clock_ticks_per_second();
}
// Converts cycles of the snapshot s to nanoseconds. The pprof tool makes the
// same conversion when it reads a profile in the legacy text format. This
// function rounds in the same way, so that both results are equal.
int64_t mprof_wait_ns(const struct mprof_wait_snapshot *s, int64_t cycles);

// --- sums of waits by stack ---

struct mprof_wait_sum {
  // The bucket with this stack whose lock had the longest waits in total.
  const struct mprof_bucket *bucket;
  int64_t count, cycles, cpu_ns;
  size_t locks; // number of different known locks
  struct mprof_stack_labels labels;
};
struct mprof_wait_groups {
  struct mprof_groups groups;
  struct mprof_wait_sum **sorted; // len pointers, most cycles first
  size_t len;
  int64_t count, cycles, cpu_ns; // sums over all stacks
};
// Groups the samples of s by stack, and stores the groups in *g. The call of
// mprof_wait_snapshot_take must have had by_stack == false, so that the samples
// of s still differ by lock.
// by_labels: true: one group for each stack and label set; false: one group for
//   each stack.
// Returns 0 or -ENOMEM. Free g->groups with mprof_groups_free.
int mprof_wait_groups_make(struct mprof_wait_groups *g,
                           const struct mprof_wait_snapshot *s, bool by_labels);

// --- creation of threads ---
//
// A snapshot of the profile "threadcreate": the stacks that created threads,
// and the names of the live threads. The names are read from /proc.

struct mprof_threadcreate_sample {
  // Bucket of the creation stack. An empty stack means that the creation was
  // not recorded.
  const struct mprof_bucket *bucket;
  // Thread name. "": the threads have ended, or the name cannot be read.
  char name[MPROF_THREAD_NAME];
  uint64_t count; // number of threads
  uint64_t live;  // number of these threads that are live
};

struct mprof_threadcreate_snapshot {
  struct mprof_threadcreate_sample *samples; // sorted by count, largest first
  size_t len;
  size_t mapped_bytes;
  uint64_t threads; // sum of the counts of all samples
  uint64_t live;    // number of these threads that are live
  int64_t time_ns;  // time of the snapshot: nanoseconds of CLOCK_REALTIME
  // A difference of two snapshots: the time between them in nanoseconds.
  // Otherwise 0.
  int64_t duration_ns;
};

// Takes a snapshot of all threads that recorded stacks have created, and of the
// other live threads: the threads of the registry, the first thread of the
// process and the calling thread.
// by_stack: true: one sample for each stack, with the name of one of its
//   threads; false: one sample for each stack and thread name.
// Returns 0 or -ENOMEM. Free *s with mprof_threadcreate_snapshot_free. Call
// with the recursion guard set. (Go: ThreadCreateProfile)
int mprof_threadcreate_snapshot_take(struct mprof_threadcreate_snapshot *s,
                                     bool by_stack);
// Makes the difference *d of two snapshots by stack, without names: the counts
// of `after` minus those of `before`, as negative numbers modulo 2^64 if
// `before` has more. Changes neither. Returns 0 or -ENOMEM. Free
// *d with mprof_threadcreate_snapshot_free.
int mprof_threadcreate_snapshot_subtract(
    struct mprof_threadcreate_snapshot *d,
    const struct mprof_threadcreate_snapshot *after,
    const struct mprof_threadcreate_snapshot *before);
void mprof_threadcreate_snapshot_free(struct mprof_threadcreate_snapshot *s);

// --- the heap at the end of main (option main_profile) ---
//
// When main has returned, or when its thread has called exit. There is none if
// the thread has called pthread_exit, because glibc then runs no destructor of
// the main thread's thread_local objects. The functions of atexit and the
// destructors of static objects run afterwards, so the difference to the heap
// profile at exit is what they have freed.

// Prepares the snapshot if the option asks for it. Call in the main thread,
// before main.
void mprof_main_end_init(void);
// Returns whether main has ended and the snapshot was taken.
bool mprof_main_has_ended(void);
// Stores a copy of the snapshot in *s, without the counters of heapx. Returns 0
// or -ENOMEM. Call only if mprof_main_has_ended. Free *s with
// mprof_mem_snapshot_free.
int mprof_main_end_copy(struct mprof_mem_snapshot *s);
// Forgets the parent's snapshot in a forked child.
void mprof_main_end_reset(void);

// --- notes of the option persist ---
//
// Adds notes to the file of the option persist (persistent.h): what a profile
// shows of a bucket and is not in the bucket, which are the modules with the
// code of its stack, its labels, and the name of its lock or profile. A process
// that is killed cannot look for them at its end, so they are noted when the
// bucket is new.

// Begins to observe the buckets if the option persist is set.
void mprof_persist_notes_init(void);
// Notes a set of labels to which a record of the trace refers. Does nothing
// without the option. Call with the recursion guard set.
void mprof_persist_note_labels(uint16_t set);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_H
