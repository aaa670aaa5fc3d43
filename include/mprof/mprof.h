/* SPDX-FileCopyrightText: The MProf authors
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * MProf's public interface: the profiles of a running program.
 *
 * Every function is safe to call from any thread. Those marked [signal] may
 * be called from a signal handler; the others may not, since they wait for the
 * profiler's own locks. All may be called in a forked child, whose profile
 * starts empty. None allocates from the program's heap or changes errno.
 * Functions that return int return 0 or an errno value.
 *
 * A program compiled without -fmprof may keep its calls: then the functions
 * are empty inline ones, which report empty profiles and ENOSYS where they
 * would have written something.
 */

#ifndef MPROF_MPROF_H
#define MPROF_MPROF_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An attribute of MProf's, which compilers without its plugin do not know:
 *   void *pool_get(struct pool *p, size_t n) MPROF_ATTR(mprof_alloc(2)); */
#ifdef __MPROF__
#define MPROF_ATTR(attribute) __attribute__((attribute))
#else
#define MPROF_ATTR(attribute)
#endif

/* Frames that a fixed-size record holds, leaf first; deeper stacks are cut
 * here, not in the files. (Go: StackRecord.Stack0) */
#define MPROF_RECORD_STACK 32

/* One allocation stack, block size and set of labels: what was allocated and
 * freed there, as sampled, not scaled. Unused stack entries are 0, so that
 * equal records compare equal with memcmp. In use = alloc - free. (Go:
 * MemProfileRecord) */
struct mprof_mem_record {
  int64_t alloc_bytes, free_bytes;
  int64_t alloc_objects, free_objects;
  uintptr_t stack0[MPROF_RECORD_STACK]; /* return addresses; ends at first 0 */
};

struct mprof_labels;

/* One bucket, with its whole stack, during mprof_iterate_mem. The stack stays
 * valid and unchanged for the life of the process. */
struct mprof_mem_bucket {
  const uintptr_t *stack; /* return addresses, leaf first */
  size_t stack_len;
  size_t size;            /* bytes a block */
  uint64_t allocs, frees; /* blocks, as sampled */
  uint64_t rate;          /* mean bytes between samples when it was taken */
  const struct mprof_labels *labels; /* NULL: none */
};

/* What threads waited at one stack, or made others wait. Estimates: every
 * sampled event has been scaled by what it stands for. Ticks are those of
 * mprof_ticks_per_second. (Go: BlockProfileRecord) */
struct mprof_block_record {
  int64_t count;                        /* events */
  int64_t cycles;                       /* ticks */
  uintptr_t stack0[MPROF_RECORD_STACK]; /* as in mprof_mem_record, but for the
                                           first: an address in the function
                                           that waited or released */
};

/* A stack: where a thread was created, no entries if that is not known, as of
 * the first thread; or what it does. (Go: StackRecord) */
struct mprof_stack_record {
  uintptr_t stack0[MPROF_RECORD_STACK];
};

#if defined(__MPROF__) || defined(MPROF_RUNTIME)

/* The heap profile as of the last finished cycle, newest bucket first.
 * records, len: an array for the result, and how many it holds; may be NULL, 0.
 * inuse_zero: not 0 to include stacks whose blocks are all freed.
 * *n: how many records the profile has.
 * Returns 0 and fills records[0 .. *n); ERANGE and leaves records untouched
 * when len < *n; ENOSYS when the runtime is not in charge: it is a second copy
 * in the process, or a child forked inside the profiler or without fork
 * handlers; EBUSY from inside another call of MProf. Until a first cycle ends,
 * a call shows all so far and ends nothing. (Go: MemProfile) */
int mprof_mem_profile(struct mprof_mem_record *records, size_t len,
                      int inuse_zero, size_t *n);

/* Calls fn for each bucket of the finished cycles, newest first, while it
 * holds the profile's lock: fn must not call MProf, and what it allocates is
 * not counted. (Go: iterate_memprof) */
void mprof_iterate_mem(void (*fn)(const struct mprof_mem_bucket *bucket,
                                  void *arg),
                       void *arg);

/* Sets the mean number of bytes between samples: 1 counts every block, 0 none.
 * More than 112 MiB count as that. Acts at the next allocation of every thread
 * (of one that is ending, at its next sample). Samples taken before keep the
 * rate they were taken at when they are scaled. Returns the rate before.
 * (Go: MemProfileRate) */
size_t mprof_set_heap_rate(size_t bytes);

/* [signal] Ends the heap profile's cycle: the end of a frame, a request, a
 * transaction. The profile is then that of this moment, and stays so until the
 * next call: what a request allocated and freed is gone from what is in use,
 * and what it left is there. So it is for mprof_mem_profile, mprof_iterate_mem
 * and mprof_write_profile; at exit everything up to the end is written. Walks
 * once through the stacks of the profile. A signal handler that
 * interrupted MProf ends the cycle, too, but the profile stays that of the
 * cycle before until the next call. See docs/cycles.md.
 * (Go: mProf_NextCycle, mProf_Flush, mProf_PostSweep) */
void mprof_next_cycle(void);

/* Two of the steps that mprof_next_cycle consists of, for programs that end
 * cycles in signal handlers: they publish what a call there could not, and
 * otherwise do nothing. (Go: mProf_Flush, mProf_PostSweep) */
void mprof_flush(void);
void mprof_post_sweep(void);

/* The block profile: where threads waited for locks and in blocking calls, and
 * how long. Arguments and results as of mprof_mem_profile; records come most
 * ticks first, one a stack. (Go: BlockProfile) */
int mprof_block_profile(struct mprof_block_record *records, size_t len,
                        size_t *n);

/* The mutex profile: which unlocks ended what others waited for, and how long
 * they had. As mprof_block_profile. (Go: MutexProfile) */
int mprof_mutex_profile(struct mprof_block_record *records, size_t len,
                        size_t *n);

/* Where threads were created: one record a live thread, or with the option
 * all_threads=1 of all ever. As mprof_mem_profile.
 * (Go: ThreadCreateProfile) */
int mprof_thread_create_profile(struct mprof_stack_record *records, size_t len,
                                size_t *n);

/* What every thread does now: one record a thread, the caller's first. The
 * stack of one that waits in a call that was compiled with MProf begins with
 * the function that it waits in; it is read where it stands, and no system call
 * of its ends early. Running threads are asked by the signal that the option
 * thread_signal names. Of those that cannot be asked or do not answer within a
 * tenth of a second the record has one address at most. Threads that begin
 * meanwhile are not in it. Arguments and results as of mprof_mem_profile;
 * ENOMEM besides. See docs/threads.md. (Go: GoroutineProfile) */
int mprof_thread_profile(struct mprof_stack_record *records, size_t len,
                         size_t *n);

/* The threads that will never run again: one record a thread, as of
 * mprof_thread_profile. Those in a cycle of locks and joins, those that wait
 * for a mutex whose owner has ended, and what waits for such a thread, are
 * certain; those that wait for a condition, semaphore or barrier that no thread
 * can reach which may still run are likely. In a signal's handler the calling
 * thread counts as in the lock's or the join's wait that the signal has
 * interrupted, if it goes on. Arguments and results as of mprof_thread_profile.
 * See docs/stuck.md. (Go: the goroutineleak profile) */
int mprof_thread_leak_profile(struct mprof_stack_record *records, size_t len,
                              size_t *n);

/* [signal] Writes to buf, of len bytes, what the calling thread does, as text
 * for people, and what all others do, if all is not 0: 'thread 4711 "worker"
 * [pthread_cond_wait, 2 minutes]:', then its frames, the function and the line
 * of each. Cuts the text to what fits and ends it with a 0. Returns its length
 * without that. With buf NULL, as from a debugger, the whole text goes to
 * stderr, and 0 is returned. In a signal handler frames are addresses only, and
 * from inside MProf only the caller's own are there. (Go: Stack) */
size_t mprof_stack(char *buf, size_t len, int all);

/* Labels say in whose name a thread works: a request, a customer, a phase. Each
 * is a key with a value. A thread has its creator's first, if the creator was
 * compiled with -fmprof=threadcreate, and a forked child its parent's. They are
 * kept with what happens in their name: blocks sampled, waits, contended
 * unlocks, of these the releasing thread's; and with the thread in the stacks
 * of all threads and in the trace. A key is cut at 128 bytes, a value at
 * 1,024; a set has at most 32 labels. A process has as many different sets as
 * the option max_labels says; beyond, a thread has the set {"mprof":"labels
 * overflow"} instead. What is cut or missing is counted. See docs/labels.md.
 * (Go: runtime/pprof.Labels) */

/* [signal] Sets one of the calling thread's labels; value NULL takes it away,
 * if it is there. Both are copied. Returns 0; EINVAL for a key that is NULL or
 * empty; ENOSPC without a change if there are 32, or with the set above if
 * there are too many sets; ENOMEM; ENOSYS, EBUSY as mprof_mem_profile, of which
 * the latter is counted as lost. */
int mprof_label_set(const char *key, const char *value);

/* A set of labels. It never changes, and stays where it is as long as the
 * process, and in its forked children. NULL is the set without labels; equal
 * sets have equal addresses. */
struct mprof_labels;
/* [signal] The calling thread's. (Go: pprof.ForLabels) */
const struct mprof_labels *mprof_labels_get(void);
/* [signal] Makes a set the calling thread's, and returns the one before: for
 * thread pools and coroutines, whose jobs take the labels along of who gave
 * them. (Go: pprof.SetGoroutineLabels) */
const struct mprof_labels *mprof_labels_swap(const struct mprof_labels *labels);
/* [signal] Adds labels to the calling thread's, key, value, key, value, ...,
 * NULL, of a key's values the last, and returns the set before. A pair without
 * key or value is left out, which is said on stderr. */
const struct mprof_labels *mprof_labels_add(const char *const *pairs);
/* Calls fn(arg) with labels added as by mprof_labels_add. The labels are as
 * before when it returns, and also when an exception leaves it or, with glibc,
 * the thread is cancelled. (Go: pprof.Do) */
void mprof_labels_with(const char *const *pairs, void (*fn)(void *arg),
                       void *arg);
/* [signal] Writes a set to buf, of len bytes: {"key":"value", "key2":"value2"},
 * by key, quoted as in Go; {} for none. Cuts the text to what fits and ends it
 * with a 0. Returns the length of the whole text without that; buf may be NULL
 * if len is 0. (Go: LabelSet.String) */
size_t mprof_labels_text(const struct mprof_labels *labels, char *buf,
                         size_t len);

/* Ticks in a second of the records' cycles. */
uint64_t mprof_ticks_per_second(void);

/* Sets the block profile's rate: on average one sample for so many nanoseconds
 * of waiting; 1 counts every wait, 0 or less none. Returns the rate before.
 * (Go: SetBlockProfileRate) */
int64_t mprof_set_block_rate(int64_t ns);

/* Sets the mutex profile's fraction: one in n contended unlocks is sampled; 0
 * none; a negative n changes nothing. Returns the fraction before.
 * (Go: SetMutexProfileFraction) */
int mprof_set_mutex_fraction(int n);

/* Gives the lock (or semaphore, condition variable) at address lock a name for
 * the profiles; name is copied, at most 63 bytes of it. NULL takes the name
 * away, as does another lock's name at the same address. Returns 0; EINVAL if
 * lock is NULL; ENOMEM when there are too many names or no memory; ENOSYS,
 * EBUSY as mprof_mem_profile. */
int mprof_name_lock(const void *lock, const char *name);

/* Writes a profile to a new file that replaces path.
 * name: one that mprof_profiles gives, so "heap"; "allocs": the same with
 * alloc_space shown first; "heapx": temporary blocks, resizes and slack, with
 * the option heapx=1; "block", "mutex", "threadcreate"; "threads": what every
 * thread does, see mprof_thread_profile; "goroutine": the same under the name
 * that Go's tools know; "threadleak" and "goroutineleak": the stuck ones among
 * them, see mprof_thread_leak_profile; or a profile of the program's own.
 * debug: 0 gzipped protobuf as pprof reads it, 1 legacy text; of "threads" and
 * "goroutine" also 2, each thread by itself as mprof_stack writes it, and of
 * the stuck ones a report with what each holds and waits for.
 * A heap or heapx profile is that of the last mprof_next_cycle, or of the last
 * garbage collection; in a program that has neither it holds everything up to
 * the call, unless the option strict_cycles=1 asks for finished cycles only. A
 * profile whose option or rate is 0, or whose kind the code was not compiled
 * with (-fmprof=KIND), is written without samples.
 * Returns 0; EINVAL for an unknown name or debug; ENOTSUP for "heapx" without
 * the option; ENOSYS if the runtime is not in charge here (see
 * mprof_mem_profile); EBUSY from inside another call of MProf; ENOMEM; or what
 * opening, writing or renaming the file gave, and then path is as it was. */
int mprof_write_profile(const char *name, const char *path, int debug);

/* Profiles of the program's own: handles, connections, whatever it opens and
 * must close. A profile has the values that were added and not removed, by the
 * stack that added each. It is written at exit with the other profiles, and by
 * mprof_write_profile under its name. A process has at most 64; a forked
 * child's are there, and empty. (Go: runtime/pprof.Profile) */
struct mprof_profile;

/* Makes a profile. name: a letter, then letters, digits, '.', '_' and '-', at
 * most 63 in all; it becomes part of the name of a file. *profile: the result,
 * good as long as the process; NULL if there is none, which the calls below
 * take for an error of theirs. Returns 0; EINVAL for another name; EEXIST if
 * there is a profile of that name, also one of MProf's own; ENOSPC when there
 * are 64; ENOSYS, EBUSY as mprof_mem_profile. (Go: NewProfile) */
int mprof_profile_new(const char *name, struct mprof_profile **profile);
/* [signal] The profile that mprof_profile_new has made with that name, or NULL.
 * (Go: Lookup) */
struct mprof_profile *mprof_profile_lookup(const char *name);
/* Adds a value: an address, a descriptor, a number. skip: how many functions to
 * leave out of its stack, from 0, which begins it with the caller, to 6; one
 * that was inlined is one, too. If that leaves none, or skip is above 6, the
 * stack is shown as lostProfileEvent. Returns 0; EEXIST if the value is there
 * already, and then it stays as it was; EINVAL if profile is none or skip below
 * 0; ENOMEM; ENOSYS, EBUSY as mprof_mem_profile, of which the latter is counted
 * as lost. (Go: Profile.Add) */
#if defined(__has_attribute)
#if __has_attribute(not_tail_called) /* the caller is to be on the stack */
__attribute__((not_tail_called))
#endif
#endif
int mprof_profile_add(struct mprof_profile *profile, uintptr_t value, int skip);
/* Removes a value. Returns 0; ENOENT if it is not there, so was never added or
 * has been removed; the rest as mprof_profile_add. (Go: Profile.Remove) */
int mprof_profile_remove(struct mprof_profile *profile, uintptr_t value);
/* [signal] How many values there are; 0 if profile is none. (Go: Count) */
size_t mprof_profile_count(const struct mprof_profile *profile);
/* mprof_write_profile of its name. (Go: Profile.WriteTo) */
int mprof_profile_write(const struct mprof_profile *profile, const char *path,
                        int debug);
/* The names of all profiles that mprof_write_profile can write, MProf's own and
 * the program's, sorted; they stay where they are. Arguments and results as of
 * mprof_mem_profile: 0 or ERANGE. (Go: Profiles) */
int mprof_profiles(const char **names, size_t len, size_t *n);

/* Starts the execution trace: from now on it has what each thread does, on one
 * axis of time: created, running, blocked and by what, woken and by whom, in a
 * system call. What is in memory is at most what the option trace_max_mb says;
 * from half of that on threads write some of it. Where it cannot be written the
 * trace ends by itself when that is full, as it is. A path that cannot be
 * written to is told by mprof_trace_stop, which writes the rest, to a new file
 * that replaces path, or to the open descriptor fd, from its place on,
 * which must stay open until then; ETIMEDOUT from that if fd is a pipe or the
 * like that takes nothing for five seconds.
 * Returns 0; EBUSY while another trace is under way, or from inside another
 * call of MProf; EINVAL for a path that is NULL or empty; ENAMETOOLONG; EBADF
 * for a negative fd; ENOMEM; ENOSYS as mprof_write_profile. (Go: trace.Start)
 */
int mprof_trace_start(const char *path);
int mprof_trace_start_fd(int fd);
/* Starts a trace that the program takes itself, by mprof_trace_read from one
 * thread: each call gives the next piece of the file in *data, valid until the
 * next call, and its length. It waits while there is none, so until buffers are
 * full, or mprof_trace_stop, which does not wait for it; with trace_format=1.5
 * all comes then. 0 after the last piece. A reader that stops lets the trace
 * end when trace_max_mb are full. Returns below 0: -ESRCH if there is no such
 * trace, or it was taken to its end; -EBUSY while another thread reads;
 * -ENOMEM; -ENOSYS as mprof_write_profile. (Go: ReadTrace) */
int mprof_trace_start_reader(void);
ssize_t mprof_trace_read(const void **data);
/* Ends the trace and writes it, one of the options' to PATTERN.trace; readable
 * by "go tool trace". Does nothing if there is none. Returns 0, or what writing
 * the file gave; ENOSYS, EBUSY as mprof_write_profile. With ENOSPC, EDQUOT or
 * EFBIG there may be a file all the same, under its name and readable: what of
 * the trace was still in memory did not fit, and its oldest part is missing,
 * which the exit report counts (trace_disk_full). (Go: trace.Stop) */
int mprof_trace_stop(void);
/* Writes what a flight recorder has, of the options trace_last and
 * trace_last_mb: the newest part of the trace, to a new file that replaces
 * path. The recording goes on, and has from then on what comes after. Returns
 * 0; ESRCH without a trace; ENOTSUP if it is not a recorder's; EINVAL,
 * ENAMETOOLONG as mprof_trace_start; or what mprof_trace_stop returns. */
int mprof_trace_snapshot(const char *path);

/* What the program puts into the trace itself; nothing where there is none, at
 * the cost of a call. Names and keys are cut at 255 bytes, and the process has
 * 2,048 different ones: records lack further ones, and are counted; a text is
 * cut at 1,024. Not for signal handlers.
 *
 * A task, a logical operation that several threads may work at: returns its
 * number, never 0, by which regions and messages belong to it; 0 where there is
 * no trace. parent: a task's number that it is a part of, or 0. (Go: NewTask)
 */
uint64_t mprof_trace_task_begin(uint64_t parent, const char *name);
void mprof_trace_task_end(uint64_t task);
/* A time that the calling thread spends on something, of a task or of none (0).
 * Regions of a thread nest, up to 32 deep. (Go: StartRegion) */
void mprof_trace_region_begin(uint64_t task, const char *name);
void mprof_trace_region_end(uint64_t task, const char *name);
/* A message at this time; key groups messages. (Go: Log) */
void mprof_trace_log(uint64_t task, const char *key, const char *text);

/* The next four are inline, and functions of the runtime for other languages.
 */
#ifdef MPROF_RUNTIME
#define MPROF_INLINE_
#elif defined(__clang__) /* nodebug: stacks have no frame of theirs */
#define MPROF_INLINE_ static inline __attribute__((always_inline, nodebug))
#else
#define MPROF_INLINE_ static inline __attribute__((always_inline))
#endif

/* For allocators that attributes do not describe: pools and arenas that tell of
 * each block themselves. A call costs what a site of malloc does: one
 * subtraction, and the rest for sampled blocks only. The block's stack begins
 * with the function that has the call, and with its caller if that is marked
 * mprof_wrapper. Blocks are known by their addresses, apart from those of
 * malloc: the memory that the allocator has from malloc is counted besides,
 * unless its functions are marked mprof_ignore. See docs/using.md. */

/* [signal] A block of size bytes at ptr was allocated. Nothing if ptr is NULL.
 * If there still is a counted block at ptr, its free was not told: it is
 * counted as freed now, and in the counter stale. */
MPROF_INLINE_ void mprof_alloc_event(void *ptr, size_t size);
/* [signal] The block at ptr, of mprof_alloc_event, mprof_arena_alloc_event or a
 * function marked mprof_alloc, is about to be freed. Call it before the
 * allocator may give the address to another thread. Nothing if ptr is NULL or
 * not a counted block. */
MPROF_INLINE_ void mprof_free_event(void *ptr);
/* [signal] As mprof_alloc_event, of a block that is freed with its arena at the
 * latest. arena: any address that names the arena as long as it is used, such
 * as that of its struct; NULL: none. */
MPROF_INLINE_ void mprof_arena_alloc_event(const void *arena, void *ptr,
                                           size_t size);
/* [signal] All blocks of the arena are freed. Call it before their memory is
 * used again, and before the arena's own is, if it ends. Takes time for each
 * block of the arena that was sampled, and next to none if there is none. A
 * handler that interrupts MProf loses its calls, and they are counted as lost:
 * the blocks then stay in use until the next reset of the arena. */
MPROF_INLINE_ void mprof_arena_reset(const void *arena);

#ifndef MPROF_RUNTIME

/* What the functions above consist of; not for other use. The countdown is that
 * of compiled sites, of which the optimizer does not know that malloc changes
 * it: hence volatile. */
extern __thread int64_t __mprof_heap_countdown
    __attribute__((tls_model("initial-exec")));
extern uintptr_t __mprof_custom_mask;
void __mprof_custom_alloc(void *ptr, size_t size);
void __mprof_custom_free(void *ptr);
void __mprof_arena_alloc(const void *arena, void *ptr, size_t size);
void __mprof_arena_reset(const void *arena);

MPROF_INLINE_ int __mprof_count_down(size_t size) {
  volatile int64_t *countdown = &__mprof_heap_countdown;
  uint64_t left = (uint64_t)*countdown;
  *countdown = (int64_t)(left - size);
  return __builtin_expect(left <= size, 0);
}
MPROF_INLINE_ int __mprof_may_be_counted(const void *ptr) {
  const volatile uintptr_t *mask = &__mprof_custom_mask;
  return __builtin_expect(((uintptr_t)ptr & *mask) == 0, 0);
}

MPROF_INLINE_ void mprof_alloc_event(void *ptr, size_t size) {
  if (__mprof_count_down(size))
    __mprof_custom_alloc(ptr, size);
}
MPROF_INLINE_ void mprof_free_event(void *ptr) {
  if (__mprof_may_be_counted(ptr))
    __mprof_custom_free(ptr);
}
MPROF_INLINE_ void mprof_arena_alloc_event(const void *arena, void *ptr,
                                           size_t size) {
  if (__mprof_count_down(size))
    __mprof_arena_alloc(arena, ptr, size);
}
MPROF_INLINE_ void mprof_arena_reset(const void *arena) {
  if (__mprof_may_be_counted(arena))
    __mprof_arena_reset(arena);
}

#endif /* MPROF_RUNTIME */

#else

static inline int mprof_mem_profile(struct mprof_mem_record *records,
                                    size_t len, int inuse_zero, size_t *n) {
  (void)records, (void)len, (void)inuse_zero;
  *n = 0;
  return 0;
}
static inline void
mprof_iterate_mem(void (*fn)(const struct mprof_mem_bucket *bucket, void *arg),
                  void *arg) {
  (void)fn, (void)arg;
}
static inline size_t mprof_set_heap_rate(size_t bytes) {
  (void)bytes;
  return 0;
}
static inline int mprof_block_profile(struct mprof_block_record *records,
                                      size_t len, size_t *n) {
  (void)records, (void)len;
  *n = 0;
  return 0;
}
static inline int mprof_mutex_profile(struct mprof_block_record *records,
                                      size_t len, size_t *n) {
  (void)records, (void)len;
  *n = 0;
  return 0;
}
static inline int
mprof_thread_create_profile(struct mprof_stack_record *records, size_t len,
                            size_t *n) {
  (void)records, (void)len;
  *n = 0;
  return 0;
}
static inline int mprof_thread_profile(struct mprof_stack_record *records,
                                       size_t len, size_t *n) {
  (void)records, (void)len;
  *n = 0;
  return 0;
}
static inline int mprof_thread_leak_profile(struct mprof_stack_record *records,
                                            size_t len, size_t *n) {
  (void)records, (void)len;
  *n = 0;
  return 0;
}
static inline size_t mprof_stack(char *buf, size_t len, int all) {
  (void)all;
  if (buf && len > 0)
    *buf = '\0';
  return 0;
}
static inline int mprof_label_set(const char *key, const char *value) {
  (void)key, (void)value;
  return ENOSYS;
}
static inline const struct mprof_labels *mprof_labels_get(void) { return NULL; }
static inline const struct mprof_labels *
mprof_labels_swap(const struct mprof_labels *labels) {
  (void)labels;
  return NULL;
}
static inline const struct mprof_labels *
mprof_labels_add(const char *const *pairs) {
  (void)pairs;
  return NULL;
}
static inline void mprof_labels_with(const char *const *pairs,
                                     void (*fn)(void *arg), void *arg) {
  (void)pairs;
  fn(arg);
}
static inline size_t mprof_labels_text(const struct mprof_labels *labels,
                                       char *buf, size_t len) {
  (void)labels;
  if (len > 0)
    *buf = '\0';
  return 0;
}
static inline uint64_t mprof_ticks_per_second(void) { return 1000000000; }
static inline int64_t mprof_set_block_rate(int64_t ns) {
  (void)ns;
  return 0;
}
static inline int mprof_set_mutex_fraction(int n) {
  (void)n;
  return 0;
}
static inline int mprof_name_lock(const void *lock, const char *name) {
  (void)lock, (void)name;
  return ENOSYS;
}
static inline void mprof_alloc_event(void *ptr, size_t size) {
  (void)ptr, (void)size;
}
static inline void mprof_free_event(void *ptr) { (void)ptr; }
static inline void mprof_arena_alloc_event(const void *arena, void *ptr,
                                           size_t size) {
  (void)arena, (void)ptr, (void)size;
}
static inline void mprof_arena_reset(const void *arena) { (void)arena; }
static inline void mprof_next_cycle(void) {}
static inline void mprof_flush(void) {}
static inline void mprof_post_sweep(void) {}
static inline int mprof_trace_start(const char *path) {
  (void)path;
  return ENOSYS;
}
static inline int mprof_trace_start_fd(int fd) {
  (void)fd;
  return ENOSYS;
}
static inline int mprof_trace_start_reader(void) { return ENOSYS; }
static inline ssize_t mprof_trace_read(const void **data) {
  *data = NULL;
  return -ENOSYS;
}
static inline int mprof_trace_stop(void) { return 0; }
static inline int mprof_trace_snapshot(const char *path) {
  (void)path;
  return ENOSYS;
}
static inline uint64_t mprof_trace_task_begin(uint64_t parent,
                                              const char *name) {
  (void)parent, (void)name;
  return 0;
}
static inline void mprof_trace_task_end(uint64_t task) { (void)task; }
static inline void mprof_trace_region_begin(uint64_t task, const char *name) {
  (void)task, (void)name;
}
static inline void mprof_trace_region_end(uint64_t task, const char *name) {
  (void)task, (void)name;
}
static inline void mprof_trace_log(uint64_t task, const char *key,
                                   const char *text) {
  (void)task, (void)key, (void)text;
}
struct mprof_profile;
static inline int mprof_profile_new(const char *name,
                                    struct mprof_profile **profile) {
  (void)name;
  *profile = NULL;
  return ENOSYS;
}
static inline struct mprof_profile *mprof_profile_lookup(const char *name) {
  (void)name;
  return NULL;
}
static inline int mprof_profile_add(struct mprof_profile *profile,
                                    uintptr_t value, int skip) {
  (void)profile, (void)value, (void)skip;
  return ENOSYS;
}
static inline int mprof_profile_remove(struct mprof_profile *profile,
                                       uintptr_t value) {
  (void)profile, (void)value;
  return ENOSYS;
}
static inline size_t mprof_profile_count(const struct mprof_profile *profile) {
  (void)profile;
  return 0;
}
static inline int mprof_profile_write(const struct mprof_profile *profile,
                                      const char *path, int debug) {
  (void)profile, (void)path, (void)debug;
  return ENOSYS;
}
static inline int mprof_profiles(const char **names, size_t len, size_t *n) {
  (void)names, (void)len;
  *n = 0;
  return 0;
}
static inline int mprof_write_profile(const char *name, const char *path,
                                      int debug) {
  (void)name, (void)path, (void)debug;
  return ENOSYS;
}

#endif

/* MPROF_LABELS("key", "value", ...); adds labels to the calling thread's until
 * the enclosing block is left: at its end, by break, goto or return, in C++ by
 * an exception too; not by longjmp, nor in C by a cancellation without
 * -fexceptions. Scopes end in the reverse order. A key without a value after it
 * is an error of the compilation (not in C++98). */
static inline void
__mprof_labels_leave(const struct mprof_labels *const *before) {
  mprof_labels_swap(*before);
}
#define MPROF_LABELS(...) MPROF_LABELS_1_(__COUNTER__, __VA_ARGS__)
#define MPROF_LABELS_1_(n, ...) MPROF_LABELS_2_(n, __VA_ARGS__)
#define MPROF_LABELS_2_(n, ...)                                                \
  const char *const mprof_pairs_##n##_[] = {__VA_ARGS__, NULL};                \
  MPROF_EVERY_KEY_NEEDS_A_VALUE_(mprof_pairs_##n##_);                          \
  const struct mprof_labels *const mprof_before_##n##_                         \
      __attribute__((cleanup(__mprof_labels_leave), unused)) =                 \
          mprof_labels_add(mprof_pairs_##n##_)
/* Of the pairs and NULL. With -std=c99 this name is shown but not the text, for
 * glibc then has a _Static_assert of its own. */
#ifndef __cplusplus
#define MPROF_EVERY_KEY_NEEDS_A_VALUE_(v)                                      \
  __extension__ _Static_assert(sizeof(v) / sizeof(const char *) % 2 == 1,      \
                               "MPROF_LABELS: a key has no value")
#elif __cplusplus >= 201103L
#define MPROF_EVERY_KEY_NEEDS_A_VALUE_(v)                                      \
  static_assert(sizeof(v) / sizeof(const char *) % 2 == 1,                     \
                "MPROF_LABELS: a key has no value")
#else
#define MPROF_EVERY_KEY_NEEDS_A_VALUE_(v) (void)(v)
#endif

#ifdef __cplusplus
}
#endif

#endif /* MPROF_MPROF_H */
