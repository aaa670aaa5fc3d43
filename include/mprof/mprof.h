/* SPDX-FileCopyrightText: The MProf authors
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * MProf's public interface. A program uses it to read and control its own
 * profiles while it runs.
 *
 * Threads: every function may be called from any thread.
 * Signals: a function marked [signal] may be called from a signal handler. The
 * others may not, because they wait for the profiler's own locks.
 * Forks: every function may be called in a forked child, whose profiles start
 * empty.
 * No function allocates from the program's heap or changes errno. A function
 * that returns int returns 0 or an errno value, unless its comment says
 * otherwise.
 *
 * A program that is compiled without -fmprof may keep its calls of these
 * functions. In such a program they are empty inline functions: they report
 * empty profiles, and functions that would write a file return ENOSYS. Code
 * that another compiler builds, and that is linked with the runtime, defines
 * MPROF_LINKED (pkg-config --cflags mprof-preload).
 *
 * The pages that comments name, such as docs/cycles.md, are installed in
 * share/doc/mprof.
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

/* Adds an attribute that only compilers with MProf's plugin know. For other
 * compilers the macro is empty. Example:
 *   void *pool_get(struct pool *p, size_t n) MPROF_ATTR(mprof_alloc(2)); */
#ifdef __MPROF__
#define MPROF_ATTR(attribute) __attribute__((attribute))
#else
#define MPROF_ATTR(attribute)
#endif

/* Maximum number of frames in a record of fixed size. The first frame is the
 * leaf. Deeper stacks are truncated in records, but not in the written files.
 * (Go: StackRecord.Stack0) */
#define MPROF_RECORD_STACK 32

/* The allocated and freed blocks that have the same allocation stack, block
 * size, labels and rate. Only sampled blocks are counted, and the numbers are
 * not scaled. A sampled block of n bytes represents 1 / (1 - exp(-n / rate))
 * blocks. alloc minus free gives the blocks in use. Unused elements of stack0
 * are 0, so that memcmp can compare records. (Go: MemProfileRecord) */
struct mprof_mem_record {
  int64_t alloc_bytes, free_bytes;
  int64_t alloc_objects, free_objects;
  uint64_t rate; /* mean number of allocated bytes between these samples */
  uintptr_t stack0[MPROF_RECORD_STACK]; /* return addresses up to the first 0 */
};

struct mprof_labels;

/* One bucket: the blocks with the same allocation stack, block size and labels.
 * The stack is not truncated. It stays valid and unchanged for the life of the
 * process. */
struct mprof_mem_bucket {
  const uintptr_t *stack; /* return addresses, leaf first */
  size_t stack_len;       /* number of addresses */
  size_t size;            /* bytes per block */
  uint64_t allocs, frees; /* number of sampled blocks, not scaled */
  uint64_t rate; /* mean number of allocated bytes between these samples */
  const struct mprof_labels *labels; /* NULL: no labels */
};

/* In the block profile: the waits of threads at one stack. In the mutex
 * profile: the unlocks at one stack, and the time that other threads had waited
 * for these unlocks. The numbers are estimates: each sampled event is scaled by
 * the number of events that it stands for. mprof_ticks_per_second gives the
 * unit of cycles. (Go: BlockProfileRecord) */
struct mprof_block_record {
  int64_t count;                        /* number of events */
  int64_t cycles;                       /* total time in ticks */
  uintptr_t stack0[MPROF_RECORD_STACK]; /* first: an address in the function
                                           that waited or released; then return
                                           addresses up to the first 0 */
};

/* A stack of a thread: either the stack of the call that created the thread, or
 * the thread's own stack at the time of the query. A creation stack is empty if
 * MProf did not see the creation, as for the first thread. (Go: StackRecord) */
struct mprof_stack_record {
  uintptr_t stack0[MPROF_RECORD_STACK];
};

#if defined(__MPROF__) || defined(MPROF_LINKED) || defined(MPROF_RUNTIME)

/* Gets the heap profile as of the end of the last cycle (see mprof_next_cycle),
 * newest bucket first. If neither the program nor a garbage collector ends
 * cycles, each call gets everything up to the call. The call itself does not
 * end a cycle.
 * records, len: the array for the result and its number of elements; may be
 *   NULL, 0.
 * inuse_zero: if not 0, includes stacks whose blocks are all freed.
 * *n: receives the number of records in the profile.
 * Returns 0 after it has filled records[0 .. *n).
 * Returns ERANGE if len < *n; the records are then unchanged.
 * Returns EINVAL if records is NULL and len is not 0, or if n is NULL.
 * Returns EBUSY if the thread is already inside MProf: in a function that MProf
 *   calls, or in a signal handler that interrupted MProf.
 * Returns ENOSYS if this runtime does not profile the process. The runtime may
 *   be the second copy in the process, or the process may be a child that was
 *   forked inside the profiler or without fork handlers.
 * (Go: MemProfile) */
int mprof_mem_profile(struct mprof_mem_record *records, size_t len,
                      int inuse_zero, size_t *n);

/* Calls fn with arg for each bucket of the heap profile, newest first. The
 * profile is that of mprof_mem_profile. Holds the profile's lock while fn runs.
 * Therefore fn must not call MProf, and allocations in fn are not counted. Does
 * not call fn if mprof_mem_profile would return ENOSYS or EBUSY.
 * (Go: iterate_memprof) */
void mprof_iterate_mem(void (*fn)(const struct mprof_mem_bucket *bucket,
                                  void *arg),
                       void *arg);

/* Sets the mean number of bytes between heap samples: 1 counts every block, 0
 * counts none. A value above 112 MiB counts as 112 MiB. Each thread uses
 * the new rate from its next allocation on. A thread that is ending uses the
 * new rate from its next sample on. Earlier samples are still scaled by the
 * rate at which they were taken. Returns the previous rate. (Go:
 * MemProfileRate) */
size_t mprof_set_heap_rate(size_t bytes);

/* [signal] Ends the heap profile's cycle, for example at the end of a request
 * or of a video frame. Until the next call, the profile shows the heap at this
 * moment: blocks that the request allocated and did not free are in use. This
 * applies to mprof_mem_profile, mprof_iterate_mem and mprof_write_profile. The
 * profile that is written at exit has everything up to the exit. The time of a
 * call is proportional to the number of buckets in the profile. A call in a
 * signal handler that interrupted MProf also ends the cycle, but the profile
 * shows the previous cycle until the next call of mprof_next_cycle. See
 * docs/cycles.md. (Go: mProf_NextCycle, mProf_Flush, mProf_PostSweep) */
void mprof_next_cycle(void);

/* mprof_next_cycle ends the cycle and then adds the cycle's events to the
 * profile. In a signal handler that has interrupted MProf, mprof_next_cycle
 * cannot add the events. The two functions below add these events later. Only
 * programs that call mprof_next_cycle in signal handlers need the two
 * functions. If all events of ended cycles are already in the profile, the two
 * functions change nothing. (Go: mProf_Flush, mProf_PostSweep) */
void mprof_cycle_flush(void);
void mprof_cycle_post_sweep(void);

/* Gets the block profile: where threads waited for locks and in blocking calls,
 * and how long. Fills in one record per stack, most ticks first. records, len,
 * *n and the result are as in mprof_mem_profile. (Go: BlockProfile) */
int mprof_block_profile(struct mprof_block_record *records, size_t len,
                        size_t *n);

/* Gets the mutex profile: which unlocks ended the waits of other threads, and
 * how long these threads had waited. The arguments, the order and the result
 * are as in mprof_block_profile. (Go: MutexProfile) */
int mprof_mutex_profile(struct mprof_block_record *records, size_t len,
                        size_t *n);

/* Gets the stacks where threads were created: one record for each thread that
 * recorded stacks have created, also if it has ended, and one for each other
 * live thread, with an empty stack.
 * The arguments and the result are as in mprof_mem_profile.
 * (Go: ThreadCreateProfile) */
int mprof_thread_create_profile(struct mprof_stack_record *records, size_t len,
                                size_t *n);

/* Gets the stack of every thread, the calling thread's first.
 *
 * If a thread waits in a call that was compiled with MProf, its stack begins
 * with the function in which it waits. MProf reads this stack without a signal,
 * so no system call of the thread ends early. MProf sends a running thread the
 * signal that the option threads_signal names. A thread that cannot receive the
 * signal, or does not answer within a tenth of a second, has a record of at
 * most one address. Threads that start during the call are missing.
 * The arguments and the result are as in mprof_mem_profile; also returns
 * ENOMEM. See docs/threads.md. (Go: GoroutineProfile) */
int mprof_thread_profile(struct mprof_stack_record *records, size_t len,
                         size_t *n);

/* Gets the stacks of the stuck threads, that is, of threads that will never run
 * again.
 *
 * A thread is certainly stuck if it is part of a deadlock of locks and joins,
 * if it waits for a mutex whose owner has ended, or if it waits for another
 * certainly stuck thread. A thread is likely stuck if it waits for a condition,
 * semaphore or barrier that no thread which may still run can reach. If the
 * caller is a signal handler that has interrupted a wait for a lock or a join,
 * the calling thread counts as waiting, provided that the wait continues when
 * the handler returns.
 * The arguments and the result are as in mprof_thread_profile. See
 * docs/stuck.md. (Go: the goroutineleak profile) */
int mprof_thread_leak_profile(struct mprof_stack_record *records, size_t len,
                              size_t *n);

/* [signal] Writes to buf, as text for people, the stack of the calling thread
 * and, if all is not 0, the stacks of all other threads. Each stack begins with
 * a line such as 'thread 4711 "worker" [pthread_cond_wait, 2 minutes]:'. The
 * frames follow, each with its function and line.
 * buf, len: the buffer and its size in bytes. The text is truncated to fit and
 *   ends with a 0. If buf is NULL, as in a call from a debugger, the whole text
 *   goes to stderr.
 * Returns the length of the text in buf without the 0; 0 if buf is NULL.
 * In a signal handler, the frames are addresses without names. Inside another
 * call of MProf, the text has the calling thread only. (Go: Stack) */
size_t mprof_stack(char *buf, size_t len, int all);

/* --- labels ---
 *
 * Labels name the work that a thread does, such as a request, a customer or a
 * phase. Each label is a key with a value. The labels of a thread form a set. A
 * new thread has its creator's labels if the creator was compiled with
 * -fmprof=threadcreate. A forked child has its parent's labels. MProf stores
 * the thread's labels with each sampled block and wait, and with each contended
 * unlock. MProf also shows the labels with the stacks of all threads and in the
 * trace.
 *
 * Limits: MProf truncates a key at 128 bytes and a value at 1,024 bytes. A set
 * has at most 32 labels. The option max_labels limits the number of different
 * sets in a process. Beyond that number, a thread gets the overflow set
 * {"mprof":"labels overflow"}. MProf counts truncated and missing labels. See
 * docs/labels.md.
 * (Go: runtime/pprof.Labels) */

/* [signal] Sets one label of the calling thread, or removes the key's label if
 * value is NULL. Copies key and value.
 * Returns 0; EINVAL if key is NULL or empty; ENOMEM; ENOSYS or EBUSY for the
 * reasons given at mprof_mem_profile. Returns ENOSPC in two cases: the thread
 * already has 32 labels, which stay unchanged; or the process already has
 * max_labels sets, and the thread gets the overflow set. MProf counts the
 * labels that are lost because of EBUSY. */
int mprof_label_set(const char *key, const char *value);

/* A set of labels. A set never changes. A set keeps its address for the life of
 * the process and of its forked children. Equal sets have equal addresses. NULL
 * is the empty set. */
struct mprof_labels;
/* [signal] Returns the calling thread's set. (Go: pprof.ForLabels) */
const struct mprof_labels *mprof_labels_get(void);
/* [signal] Replaces the calling thread's set by labels. Returns the former set.
 * Thread pools and coroutines use this function to run a job with the labels of
 * the thread that submitted the job. (Go: pprof.SetGoroutineLabels) */
const struct mprof_labels *mprof_labels_swap(const struct mprof_labels *labels);
/* [signal] Adds labels to the calling thread's set and returns the previous
 * set. pairs: key, value, key, value, ..., NULL. If a key occurs twice, its
 * last value counts. If the last key of the array has no value, this key is
 * ignored, and MProf prints a message to stderr. */
const struct mprof_labels *mprof_labels_add(const char *const *pairs);
/* Calls fn(arg) with pairs added to the calling thread's labels, as
 * mprof_labels_add does. Restores the previous labels when fn returns, when an
 * exception leaves fn and, with glibc, when the thread is cancelled.
 * (Go: pprof.Do) */
void mprof_labels_with(const char *const *pairs, void (*fn)(void *arg),
                       void *arg);
/* [signal] Writes a set to buf as {"key":"value", "key2":"value2"}, sorted by
 * key and quoted as in Go. The text of the empty set is {}.
 * buf, len: the buffer and its size in bytes; buf may be NULL if len is 0. The
 *   text is truncated to fit and ends with a 0.
 * Returns the length of the whole text without the 0. (Go: LabelSet.String) */
size_t mprof_labels_text(const struct mprof_labels *labels, char *buf,
                         size_t len);

/* --- the CPU profile --- */

/* Starts the CPU profile: samples of the stacks of all threads, `rate` (1 to
 * 1000) for each second of their processor time. 99 costs about 1 percent. The
 * profile `cpu` (mprof_write_profile) has the samples of all times in which it
 * was on, and is written at the end of the process, too. The time for which a
 * thread blocks the signal of the option cpu_signal is shown without its stack.
 * Returns 0; EINVAL if rate is out of range; EBUSY if the CPU profile is on;
 * EADDRINUSE if the program handles the signal itself; EAGAIN if no thread can
 * be created; ENOMEM; ENOSYS or EBUSY for the reasons given at
 * mprof_mem_profile. (Go: StartCPUProfile) */
int mprof_start_cpu_profile(int rate);
/* Stops the CPU profile. Does nothing if it is off. (Go: StopCPUProfile) */
void mprof_stop_cpu_profile(void);

/* --- rates and names of the lock profiles --- */

/* Returns the number of ticks per second, for the field cycles of records. */
uint64_t mprof_ticks_per_second(void);

/* Sets the block profile's rate: one sample for every ns nanoseconds that
 * threads wait, on average. 1 counts every wait; 0 or less counts none. Returns
 * the previous rate. (Go: SetBlockProfileRate) */
int64_t mprof_set_block_rate(int64_t ns);

/* Sets the mutex profile's fraction: one in n contended unlocks is sampled. 0
 * samples none; a negative n changes nothing. Returns the previous fraction.
 * (Go: SetMutexProfileFraction) */
int mprof_set_mutex_fraction(int n);

/* Sets the name by which profiles and traces show the lock, semaphore or
 * condition variable at address lock. Copies at most 63 bytes of name. If name
 * is NULL, removes the lock's name. A later name for the same address replaces
 * this name.
 * Returns 0; EINVAL if lock is NULL; ENOMEM if there are too many names or no
 * memory; ENOSYS or EBUSY for the reasons given at mprof_mem_profile. */
int mprof_name_lock(const void *lock, const char *name);

/* --- writing profiles --- */

/* Writes a profile to a new file, which then replaces any file at path.
 * name: a name that mprof_profiles lists:
 *   "heap": the heap profile;
 *   "allocs": the heap profile, of which pprof shows alloc_space by default;
 *   "peak": the heap profile of the moment when the most memory was in use;
 *     needs the option peak=1;
 *   "main": the heap profile of the end of main; needs main_profile=1;
 *   "memory": all resident memory of the process, by what it is used for;
 *   "mmap": mapped memory, by the stack that mapped it;
 *   "heapx": temporary blocks, resizes and slack; needs the option heapx=1;
 *   "block", "mutex", "locks", "threadcreate";
 *   "cpu": processor time, see mprof_start_cpu_profile;
 *   "wall": what all threads did, sampled by time (option wall_rate);
 *   "lockorder": potential deadlocks (option lock_order);
 *   "threads": the stack of every thread, see mprof_thread_profile;
 *   "goroutine": "threads" under the name that Go's tools know;
 *   "threadleak", "goroutineleak": the stuck threads, see
 *     mprof_thread_leak_profile;
 *   or the name of a profile of the program's own.
 * debug: 0 for gzipped protobuf, as pprof reads it; 1 for legacy text.
 * "threads" and "goroutine" also accept debug 2: the text that mprof_stack
 * writes for each thread. "threadleak" and "goroutineleak" also accept debug 2:
 * a report that shows for each thread the locks that it holds and the object
 * that it waits for. "lockorder" also accepts debug 2: a report of the cycles.
 *
 * A heap or heapx profile shows the heap at the last mprof_next_cycle or at the
 * last garbage collection. In a program that has neither, the profile shows
 * everything up to the call. With the option strict_cycles=1, the profile shows
 * finished cycles only. A profile has no samples if its option or rate is 0, or
 * if the code was compiled without this kind of profile (-fmprof=KIND).
 *
 * Returns 0; EINVAL for an unknown name or debug; ENOTSUP for "peak" or
 * "heapx" without its option, and for "main" before main has ended; ENOSYS or
 * EBUSY for the reasons given at mprof_mem_profile; ENOMEM; or the error of
 * opening, writing or renaming the file. After an error, the file at path is
 * unchanged. */
int mprof_write_profile(const char *name, const char *path, int debug);

/* Starts the HTTP server: a thread of MProf answers requests for the profiles
 * of the running program, under the paths of Go's net/http/pprof. The option
 * listen does the same without a call. docs/live.md describes the server.
 * address: "unix:PATH", where PATH is absolute and may contain the % patterns
 *   of the option log_path; or an IP address and a port, such as
 *   "127.0.0.1:6060" or "[::1]:6060". Port 0 chooses a free port, and MProf
 *   prints the address on stderr. NULL or "" stops the server; its thread ends
 *   soon after.
 * A Unix socket has the mode 0600 and accepts only root and the user of the
 * process. Every local user can read the profiles at a loopback address, and
 * everybody who can reach any other address.
 * A forked child does not answer at its parent's address. If PATH contains %p,
 * the child starts a server of its own. Otherwise the child may call
 * mprof_listen. Returns 0; EINVAL for a malformed address; ENAMETOOLONG; EBUSY
 * if a server is already open or about to close; EPERM if the program has more
 * rights than the user who started it (AT_SECURE); EAGAIN or ENOMEM if no
 * thread can be created; the error of opening the socket, such as EADDRINUSE or
 * EACCES; ENOSYS or EBUSY for the reasons given at mprof_mem_profile. MProf
 * also prints the reason of an error on stderr. */
int mprof_listen(const char *address);

/* Starts MProf in a program that was started without it, and stops it again.
 * Such a program loads libmprof_preload.so by dlopen, and finds both functions
 * by dlsym. From mprof_start on, the calls of all modules are counted. Blocks
 * that are older are in no profile. mprof_stop writes the profiles, as at exit,
 * and gives the calls back to libc; the library stays loaded and costs nothing.
 * options: in place of those in MPROF_OPTIONS; NULL: those. After mprof_stop,
 * only log_path, listen and the options that mprof ctl can change have an
 * effect, and the counts of allocations and waits go on from their former
 * values.
 * Both return 0. mprof_start returns EALREADY if MProf runs, also if the
 * program was built or started with MProf, ENOSYS if the program has another
 * copy of MProf, or the error of opening the address of listen. mprof_stop
 * returns EALREADY if MProf does not run. Not for signal handlers; both take
 * the loader's lock. */
int mprof_start(const char *options);
int mprof_stop(void);

/* --- profiles that the program defines --- */

/* A profile of resources that the program opens and must close, such as handles
 * or connections. For each stack that has called mprof_profile_add, the profile
 * counts the values that were added and not yet removed. MProf writes the
 * profile at exit, together with MProf's own profiles. mprof_write_profile
 * writes it at any time. A process has at most 64 such profiles. A forked child
 * has its parent's profiles, but without their values.
 * (Go: runtime/pprof.Profile) */
struct mprof_profile;

/* Makes a profile.
 * name: a letter, then letters, digits, '.', '_' and '-', at most 63 bytes in
 *   all. The name becomes a part of a file name.
 * *profile: receives the profile, which is valid for the life of the process;
 *   NULL after an error. mprof_profile_add and the other functions that take a
 *   profile fail if it is NULL.
 * Returns 0; EINVAL for an invalid name; EEXIST if a profile of the program or
 * of MProf has this name; ENOSPC if there are 64 profiles; ENOSYS or EBUSY for
 * the reasons given at mprof_mem_profile. (Go: NewProfile) */
int mprof_profile_new(const char *name, struct mprof_profile **profile);
/* [signal] Returns the profile that mprof_profile_new made with this name, or
 * NULL. (Go: Lookup) */
struct mprof_profile *mprof_profile_lookup(const char *name);
/* Adds a value, such as an address, a descriptor or a number, to the profile.
 * skip: number of functions to leave out at the leaf end of the stack, 0 to 6.
 *   With 0 the stack begins with the caller. An inlined function counts as one
 *   function. If skip is above 6 or leaves no function, the profile shows
 *   lostProfileEvent in place of the stack.
 * Returns 0; EEXIST if the profile already has the value; EINVAL if profile is
 * NULL or not a profile, or if skip < 0; ENOMEM; ENOSYS or EBUSY for the
 * reasons given at mprof_mem_profile. MProf counts the values that are lost
 * because of EBUSY. (Go: Profile.Add) */
#if defined(__has_attribute)
#if __has_attribute(not_tail_called) /* keeps the caller on the stack */
__attribute__((not_tail_called))
#endif
#endif
int mprof_profile_add(struct mprof_profile *profile, uintptr_t value, int skip);
/* Removes a value. Returns 0; ENOENT if the profile does not have the value; or
 * EINVAL, ENOSYS or EBUSY as mprof_profile_add does. (Go: Profile.Remove) */
int mprof_profile_remove(struct mprof_profile *profile, uintptr_t value);
/* [signal] Returns the number of values in the profile; 0 if profile is not a
 * profile. (Go: Count) */
size_t mprof_profile_count(const struct mprof_profile *profile);
/* Calls mprof_write_profile with the profile's name. Returns EINVAL if profile
 * is not a profile. (Go: Profile.WriteTo) */
int mprof_profile_write(const struct mprof_profile *profile, const char *path,
                        int debug);
/* Gets the sorted names of all profiles that mprof_write_profile can write.
 * These are MProf's profiles and the profiles that the program defines. The
 * strings stay valid for the life of the process.
 * names, len: the array for the names and its number of elements.
 * *n: receives the number of names.
 * Returns 0; ERANGE if len < *n, and then names is unchanged; EINVAL if n is
 * NULL, or if names is NULL and len > 0. (Go: Profiles) */
int mprof_profiles(const char **names, size_t len, size_t *n);

/* --- the execution trace --- */

/* These two functions start the execution trace. The trace records, on one time
 * axis, when each thread is created, runs, blocks (and in which call), is woken
 * (and by which thread), and is in a system call.
 *
 * path: the trace is written to a new file, which replaces any file at path.
 * fd: the trace is written to this open descriptor from its current position
 * on. The program must keep fd open until mprof_trace_stop has returned.
 *
 * The option trace_max_mb limits the memory of the trace. When half of this
 * memory is used, threads begin to write parts of the trace to disk. If writing
 * fails, the trace ends by itself when the memory is full, and keeps the events
 * recorded so far. mprof_trace_stop writes the rest and reports errors of the
 * file. mprof_trace_stop returns ETIMEDOUT if fd is a pipe or socket that
 * accepts no data for five seconds.
 *
 * Both return 0; EBUSY while another trace runs, or if the thread is already
 * inside MProf; EINVAL if path is NULL or empty; ENAMETOOLONG; EBADF if fd is
 * negative; ENOMEM; ENOSYS for the reasons given at mprof_mem_profile.
 * (Go: trace.Start) */
int mprof_trace_start(const char *path);
int mprof_trace_start_fd(int fd);
/* mprof_trace_start_reader starts a trace that the program itself reads, by
 * calls of mprof_trace_read in one thread. Returns 0 or an error that
 * mprof_trace_start can return. (Go: ReadTrace)
 *
 * mprof_trace_read sets *data to the next piece of the trace file's contents.
 * It returns the length of the piece in bytes, or 0 after the last piece. The
 * piece is valid until the next call. mprof_trace_read waits for the next piece
 * until buffers are full, or until mprof_trace_stop is called. mprof_trace_stop
 * does not wait for the reader. With trace_format=1.5, all pieces come after
 * the stop. If the program no longer reads, the trace ends when the memory that
 * trace_max_mb allows is full.
 * On failure, mprof_trace_read returns -ESRCH if there is no such trace or the
 * program has read all of it; -EBUSY while another thread reads; -ENOMEM;
 * -ENOSYS, if mprof_mem_profile would return ENOSYS. */
int mprof_trace_start_reader(void);
ssize_t mprof_trace_read(const void **data);
/* Ends the trace and writes it in the format of "go tool trace". If an option
 * has started the trace, its file is PATTERN.trace, where PATTERN is the value
 * of the option log_path. Does nothing if there is no trace.
 * Returns 0; the error of writing the file; ENODEV if log_path=/dev/null says
 * that no file is wanted; ENOSYS or EBUSY for the reasons given at
 * mprof_mem_profile.
 * After ENOSPC, EDQUOT or EFBIG, the trace's file may still exist and be
 * readable. It lacks the oldest part of the data that was in memory, because
 * the disk had no room for that part. The exit report counts the missing part
 * (trace_disk_full).
 * (Go: trace.Stop) */
int mprof_trace_stop(void);
/* Writes the newest part of the trace to a new file, which then replaces any
 * file at path. The trace must be a flight recorder (options trace_last and
 * trace_last_mb). The recording goes on, but MProf discards the events that
 * this call has written. So the next snapshot has only later events.
 * Returns 0; ESRCH if there is no trace; ENOTSUP if the trace is not a flight
 * recorder; EINVAL if path is NULL or empty; ENAMETOOLONG; or an error that
 * mprof_trace_stop can return. */
int mprof_trace_snapshot(const char *path);

/* Tasks, regions and messages are events that the program itself adds to the
 * trace. Without a trace, these functions do nothing and cost only the call.
 * Names and keys are truncated at 255 bytes, a message's text at 1,024 bytes. A
 * process has at most 2,048 different names and keys. If an event has a
 * further name or key, MProf leaves out this name or key, and counts the event.
 * Signal handlers must not call these functions. */

/* Begins a task: a logical operation on which several threads may work. Returns
 * the task's number, for the argument task of mprof_trace_task_end and the
 * functions below. The number is 0 only if there is no trace. parent: the
 * number of the task of which this task is a part, or 0. (Go: NewTask) */
uint64_t mprof_trace_task_begin(uint64_t parent, const char *name);
void mprof_trace_task_end(uint64_t task);
/* These two functions mark the begin and the end of a region: a period in which
 * the calling thread works on one thing. task: the number of the task to which
 * the region belongs, or 0. Regions of a thread nest, up to 32 deep.
 * (Go: StartRegion) */
void mprof_trace_region_begin(uint64_t task, const char *name);
void mprof_trace_region_end(uint64_t task, const char *name);
/* Adds a message to the trace, at the current time. task: the number of the
 * task to which the message belongs, or 0. key: a name for a group of messages.
 * (Go: Log) */
void mprof_trace_log(uint64_t task, const char *key, const char *text);

/* --- blocks of the program's own allocators --- */

/* mprof_alloc_event, mprof_free_event, mprof_arena_alloc_event and
 * mprof_arena_reset are inline functions in C and C++. The runtime also exports
 * them, for other languages. */
#ifdef MPROF_RUNTIME
#define MPROF_INLINE_
#elif defined(__clang__) /* nodebug: stacks do not show these functions */
#define MPROF_INLINE_ static inline __attribute__((always_inline, nodebug))
#else
#define MPROF_INLINE_ static inline __attribute__((always_inline))
#endif

/* The next four functions are for allocators that attributes cannot describe:
 * pools and arenas that report each block themselves. Profiling a block costs
 * as much as with malloc: one subtraction, and more only for sampled blocks.
 * The block's stack begins with the function that reports the block, or with
 * that function's caller if the function is marked mprof_wrapper. MProf keeps
 * reported blocks and blocks of malloc in different tables. The memory that the
 * allocator itself gets from malloc is counted as well, unless the allocator's
 * functions are marked mprof_ignore. See docs/using.md. */

/* [signal] Reports that size bytes at ptr were allocated. Does nothing if ptr
 * is NULL. If MProf still knows a counted block at ptr, the free of that block
 * was not reported. Then MProf counts that block as freed now, and increments
 * the counter stale of the exit report. */
MPROF_INLINE_ void mprof_alloc_event(void *ptr, size_t size);
/* [signal] Reports that the block at ptr is about to be freed. The block was
 * reported by mprof_alloc_event or mprof_arena_alloc_event, or returned by a
 * function marked mprof_alloc. Call mprof_free_event before the allocator can
 * give the address to another thread. Does nothing if ptr is NULL or not a
 * counted block. */
MPROF_INLINE_ void mprof_free_event(void *ptr);
/* [signal] Reports an allocation as mprof_alloc_event does. The block is freed
 * by mprof_free_event, or at the latest by mprof_arena_reset. arena: an address
 * that identifies the arena as long as the arena is used, such as the address
 * of the arena's struct; NULL: the block belongs to no arena. */
MPROF_INLINE_ void mprof_arena_alloc_event(const void *arena, void *ptr,
                                           size_t size);
/* [signal] Reports that all blocks of the arena are freed. Call this function
 * before the memory of the blocks is reused and, if the arena ends, before the
 * arena's own memory is reused. Takes time for each sampled block of the arena,
 * and almost no time if the arena has none. A call in a signal handler that
 * interrupted MProf has no effect and is counted as lost. In the profile, the
 * blocks then stay in use until the arena's next reset. */
MPROF_INLINE_ void mprof_arena_reset(const void *arena);

#ifndef MPROF_RUNTIME

/* For the inline functions of this header only: programs must not use these
 * variables and functions. Calls of malloc that the compiler rewrites also
 * subtract from the countdown. The inline functions access the countdown as
 * volatile, because the optimizer does not know that such a call changes the
 * countdown. */
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

/* The result of a profile without records. */
#define MPROF_NO_RECORDS_(records, len, n)                                     \
  ((n) == NULL || ((records) == NULL && (len) != 0) ? EINVAL : (*(n) = 0, 0))
static inline int mprof_mem_profile(struct mprof_mem_record *records,
                                    size_t len, int inuse_zero, size_t *n) {
  (void)inuse_zero;
  return MPROF_NO_RECORDS_(records, len, n);
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
  return MPROF_NO_RECORDS_(records, len, n);
}
static inline int mprof_mutex_profile(struct mprof_block_record *records,
                                      size_t len, size_t *n) {
  return MPROF_NO_RECORDS_(records, len, n);
}
static inline int
mprof_thread_create_profile(struct mprof_stack_record *records, size_t len,
                            size_t *n) {
  return MPROF_NO_RECORDS_(records, len, n);
}
static inline int mprof_thread_profile(struct mprof_stack_record *records,
                                       size_t len, size_t *n) {
  return MPROF_NO_RECORDS_(records, len, n);
}
static inline int mprof_thread_leak_profile(struct mprof_stack_record *records,
                                            size_t len, size_t *n) {
  return MPROF_NO_RECORDS_(records, len, n);
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
  for (size_t i = 0; i < len && i < 3; i++)
    buf[i] = i + 1 == len || i == 2 ? '\0' : "{}"[i];
  return 2;
}
static inline int mprof_start_cpu_profile(int rate) {
  (void)rate;
  return ENOSYS;
}
static inline void mprof_stop_cpu_profile(void) {}
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
static inline void mprof_cycle_flush(void) {}
static inline void mprof_cycle_post_sweep(void) {}
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
  return MPROF_NO_RECORDS_(names, len, n);
}
static inline int mprof_listen(const char *address) {
  (void)address;
  return ENOSYS;
}
static inline int mprof_start(const char *options) {
  (void)options;
  return ENOSYS;
}
static inline int mprof_stop(void) { return ENOSYS; }
static inline int mprof_write_profile(const char *name, const char *path,
                                      int debug) {
  (void)name, (void)path, (void)debug;
  return ENOSYS;
}

#endif

/* Restores the labels that the thread had before MPROF_LABELS. The compiler
 * calls this function when the program leaves the block of MPROF_LABELS. */
static inline void
__mprof_labels_leave(const struct mprof_labels *const *before) {
  mprof_labels_swap(*before);
}
/* MPROF_LABELS("key", "value", ...); adds labels to the calling thread's set
 * until the program leaves the enclosing block: at the block's end, or by
 * break, goto, return or, in C++, an exception. If longjmp leaves the block,
 * the labels are not restored. In C without -fexceptions, the labels are not
 * restored if the thread is cancelled in the block. A key without a value is a
 * compile-time error (not in C++98), as are two uses of the macro in the same
 * line of the same block. */
#define MPROF_LABELS(...) MPROF_LABELS_1_(__LINE__, __VA_ARGS__)
#define MPROF_LABELS_1_(n, ...) MPROF_LABELS_2_(n, __VA_ARGS__)
#define MPROF_LABELS_2_(n, ...)                                                \
  const char *const mprof_pairs_##n##_[] = {__VA_ARGS__, NULL};                \
  MPROF_EVERY_KEY_NEEDS_A_VALUE_(mprof_pairs_##n##_);                          \
  const struct mprof_labels *const mprof_before_##n##_                         \
      __attribute__((cleanup(__mprof_labels_leave), unused)) =                 \
          mprof_labels_add(mprof_pairs_##n##_)
/* Checks at compile time that each key has a value. The array v holds the pairs
 * and a final NULL, so its number of elements must be odd. With -std=c99, the
 * compiler's error shows the name of this macro but not the message below,
 * because glibc then defines a _Static_assert of its own. */
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
