// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ground the runtime stands on: the operating system without libc (no
// errno, no cancellation point, no lock), locks with ranks, memory that is
// never freed, and the counters of what was lost. Nothing here knows about
// profiles.

#ifndef MPROF_RT_BASE_H
#define MPROF_RT_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define mprof_likely(x) __builtin_expect(!!(x), 1)
#define mprof_unlikely(x) __builtin_expect(!!(x), 0)
#define MPROF_NOINLINE __attribute__((noinline))
// On the definition of what mprof/mprof.h declares.
#define MPROF_PUBLIC __attribute__((visibility("default")))

typedef uintptr_t mprof_pc; // a return address

// --- os_linux.c: system calls. Results below 0 are -errno. ---

long mprof_sys_open(const char *path, int flags, int mode);
long mprof_sys_read(int fd, void *buf, size_t len);
long mprof_sys_write(int fd, const void *buf, size_t len);
long mprof_sys_close(int fd);
long mprof_sys_rename(const char *from, const char *to);
// The same, but -EEXIST if there is a file named to.
long mprof_sys_rename_new(const char *from, const char *to);
bool mprof_sys_exists(const char *path);
long mprof_sys_ftruncate(int fd, long len);
// Takes the file's lock for this opening of it; -EWOULDBLOCK if another has it.
long mprof_sys_flock(int fd);
long mprof_sys_unlink(const char *path);
long mprof_sys_fcntl(int fd, int cmd, long arg);
// The length of the link's text, which is not terminated.
long mprof_sys_readlink(const char *path, char *buf, size_t len);
// What tells one open file from another. 0 or -errno.
long mprof_sys_fstat_id(int fd, uint64_t *dev, uint64_t *ino);
// Takes room on the disk for bytes from offset on, which the file's length does
// not show; and gives back what is behind its length. 0 or -errno.
long mprof_sys_reserve(int fd, uint64_t offset, uint64_t bytes);
// Waits until fd takes data, or has an error. 1, 0 for neither, or -errno.
long mprof_sys_poll_out(int fd, int timeout_ms);
// How many names an open file has, a directory's . and those of its directories
// included. 0 if that is not known.
uint64_t mprof_sys_links(int fd);
// Back to the file's begin.
long mprof_sys_rewind(int fd);
int mprof_sys_getpid(void);
int mprof_sys_gettid(void);
// The calling thread's name, 16 bytes with its 0.
void mprof_sys_own_name(char *name);
void mprof_sys_set_own_name(const char *name);
void mprof_sys_sleep_ms(unsigned ms);
void mprof_sys_yield(void);
// Sets the calling thread's mask of blocked signals, bit s - 1 for signal s, as
// the kernel has it. Returns the one before.
uint64_t mprof_sys_set_signal_mask(uint64_t mask);
// Queues sig with a value for thread tid of this process. 0 or -errno.
long mprof_sys_queue(int tid, int sig, uint64_t value);
// (Linux: linux_dirent64, which no header for programs has)
struct mprof_dirent {
  uint64_t inode;
  int64_t offset;
  uint16_t length; // of the entry
  uint8_t type;
  char name[];
};
// Entries of a directory as the kernel has them; their length, 0 at the end.
long mprof_sys_getdents(int fd, void *buf, size_t len);
// Sends sig to the calling thread, with a siginfo_t that it had. 0 or -errno.
long mprof_sys_resend(int sig, void *info);
// Whether thread tid of this process still exists.
bool mprof_sys_thread_alive(int tid);
// Processor time that it has used; 0 if it is gone.
uint64_t mprof_sys_thread_ran_ns(int tid);
// Whether eight bytes at addr can be read; asks the kernel, never faults.
bool mprof_sys_readable(uintptr_t addr);
uint64_t mprof_sys_random(void);
int64_t mprof_sys_realtime_ns(void);
// RLIMIT_AS in bytes, UINT64_MAX if there is none.
uint64_t mprof_sys_address_space_limit(void);
// The same of a file's bytes.
uint64_t mprof_sys_file_size_limit(void);
// Makes running threads see stores made before the call. 0 or -errno.
long mprof_sys_membarrier(void);

struct timespec;
void mprof_sys_futex_wait(atomic_uint *word, unsigned value);
// For so long at most.
void mprof_sys_futex_wait_for(atomic_uint *word, unsigned value,
                              const struct timespec *time);
void mprof_sys_futex_wait_ms(atomic_uint *word, unsigned value, uint64_t ms);
void mprof_sys_futex_wake(atomic_uint *word); // one waiter
void mprof_sys_futex_wake_all(atomic_uint *word);
// All, of other processes too.
void mprof_sys_futex_wake_shared(atomic_uint *word);

// Writes all of buf, through short writes and EINTR. 0 or an errno value. A
// failure raises no SIGPIPE and no SIGXFSZ: they would end the program.
int mprof_os_write_all(int fd, const void *buf, size_t len);
// The same; *left is the length, then what an error has left of it.
int mprof_os_write(int fd, const void *buf, size_t *left);
// Zeroed private memory, returned to the system by mprof_os_unmap; for what
// lives during one call only. NULL when there is none.
void *mprof_os_map(size_t len);
void mprof_os_unmap(void *p, size_t len);
// Address space without memory behind it, and memory into a part of it.
void *mprof_os_reserve(size_t len);
bool mprof_os_commit(void *p, size_t len, bool in_huge_pages);
// A forked child does not have that mapping.
void mprof_os_keep_from_children(void *p, size_t len);
// The i-th of the mappings that the above have made; *len 0: there is none now.
// False: neither are further ones. Of more than 256 some are left out.
bool mprof_os_own_map(size_t i, uintptr_t *start, size_t *len);
// Gives the memory back; the range reads as zeros after.
void mprof_os_discard(void *p, size_t len);
// The n-th call from now that asks for memory fails, and those after it do
// not; 0 for none. For tests.
void mprof_os_fail_map(int n);

// --- lock.c ---

// Ranks: a thread may only take a lock of a higher rank than those it holds.
// All are taken with the thread's guard set (threads.h), so a signal handler
// that interrupts a holder drops its event instead of waiting for itself.
enum mprof_rank {
  MPROF_RANK_WRITE = 1, // writer_lock: one profile is written at a time
  MPROF_RANK_TRACE,     // trace_lock: sessions, and who has which row
  MPROF_RANK_STACKS,    // stacks_lock: the stacks of all threads
  MPROF_RANK_MODULES,   // modules_lock: which modules were where
  MPROF_RANK_REGISTRY,  // registry_lock: threads, wrappers, rate, masks
  MPROF_RANK_ACTIVE,    // active_lock: active of every memory record
  MPROF_RANK_INSERT,    // insert_lock: bucket table and list heads
  MPROF_RANK_PROFILES,  // profiles_lock, and the values of each such profile
  MPROF_RANK_CUSTOM,    // a slot of the table of arenas
  MPROF_RANK_ODD,       // odd_lock: live blocks off 16-byte boundaries
  MPROF_RANK_GC,        // gc_lock: live objects of a collector
  MPROF_RANK_STARTS,    // starts_lock: what threads are created with
  MPROF_RANK_WAITERS,   // a slot of the table of waiters
  MPROF_RANK_NAMES,     // names_lock: names of locks
  MPROF_RANK_LABELS,    // labels_lock: sets of labels
  MPROF_RANK_ENDED,     // threads that have ended in the trace
  MPROF_RANK_LOG,       // log_lock: the allocation log
  MPROF_RANK_TRACE_BUF, // free buffers of the trace
  MPROF_RANK_MEMORY,    // persistent_lock: the end of what is committed
};

struct mprof_lock {
  atomic_uint word; // 0 free, 1 held, 2 held and waited for
  unsigned char rank;
  // Waiting for this lock itself, for the mutex profile; see lock.c.
  _Atomic uint64_t waiting;
  uint64_t charged; // guarded by the lock
};
#define MPROF_LOCK_INIT(r) {.word = 0, .rank = (r)}

void mprof_lock_acquire(struct mprof_lock *l);
// False if it was not to be had for that long, looking once a millisecond.
bool mprof_lock_acquire_within(struct mprof_lock *l, unsigned ms);
void mprof_lock_release(struct mprof_lock *l);
// In a forked child: free, whoever held it in the parent.
void mprof_lock_reset(struct mprof_lock *l);
// How long a thread sleeps at a time for a lock: by its address one is known
// whose system call a signal may end.
extern const struct timespec mprof_lock_patience;
// What threads have waited for the profiler's locks, in ticks.
uint64_t mprof_lock_wait_ticks(void);

// --- persistent.c ---

// Zeroed memory that is never freed (Go: persistentalloc), aligned to 64 bytes;
// NULL, counted as lost, once max_memory_mb are used or the system has none.
// Lock-free but for the growth of the committed part.
void *mprof_persistent_alloc(size_t len);
// The same for what can be done without: its lack is no loss.
void *mprof_persistent_try_alloc(size_t len);
// What its addresses are multiples of.
#define MPROF_PERSISTENT_UNIT 64u
extern char *mprof_persistent_base; // written once by mprof_persistent_init
// Handles: names of that memory that fit 32 bits; 0 is NULL.
static inline uint32_t mprof_persistent_handle(const void *p) {
  return p ? (uint32_t)(((const char *)p - mprof_persistent_base) /
                        MPROF_PERSISTENT_UNIT)
           : 0;
}
static inline void *mprof_persistent_pointer(uint32_t handle) {
  return handle ? mprof_persistent_base + (size_t)handle * MPROF_PERSISTENT_UNIT
                : NULL;
}
// Bytes handed out, and of those the ones for the bucket table.
size_t mprof_persistent_used(void);
// Reserves max_bytes of address space, less where the system refuses. Returns
// 0 or ENOMEM, and then every allocation fails.
int mprof_persistent_init(size_t max_bytes);
// Forgets everything: in a forked child, and between unit tests.
void mprof_persistent_reset(void);

// --- stats.c ---

// What was counted and what was lost, by name; shown in the report and in the
// profiles' comments.
enum mprof_stat {
#define MPROF_STAT(Name, Loss, Text) MPROF_STAT_##Name,
#include "stats.def"
  MPROF_STAT_COUNT
};
struct mprof_stat_info {
  const char *name;
  bool is_loss; // shown only when not 0, as something the profile lacks
  const char *text;
};
extern const struct mprof_stat_info mprof_stat_infos[MPROF_STAT_COUNT];
void mprof_stat_add(enum mprof_stat s, uint64_t n);
uint64_t mprof_stat_get(enum mprof_stat s);
void mprof_stat_set(enum mprof_stat s, uint64_t n);
void mprof_stats_reset(void);

// The hash FNV-1a of nothing; and of what has hash h, followed by s.
#define MPROF_HASH_EMPTY UINT64_C(0xcbf29ce484222325)
static inline uint64_t mprof_hash(uint64_t h, const char *s, size_t len) {
  for (size_t i = 0; i < len; i++)
    h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
  return h;
}

// --- message.c ---

// Text built in a caller's buffer, cut at its end, always terminated.
struct mprof_text {
  char *buf;
  size_t cap;
  size_t len;
};
#define MPROF_TEXT(array) {.buf = (array), .cap = sizeof(array), .len = 0}
void mprof_text_str(struct mprof_text *t, const char *s);
void mprof_text_mem(struct mprof_text *t, const char *s, size_t len);
// Text from outside: control characters and what is not UTF-8 become '?', and
// no character is cut in half.
void mprof_text_clean(struct mprof_text *t, const char *s, size_t len);
// Bytes of the UTF-8 character at s, of which len are there; 0 if it is none.
size_t mprof_utf8_length(const unsigned char *s, size_t len);
void mprof_text_dec(struct mprof_text *t, uint64_t v);
void mprof_text_hex(struct mprof_text *t, uint64_t v); // without 0x
// v / 10^digits with that many decimals.
void mprof_text_fixed(struct mprof_text *t, uint64_t v, int digits);
void mprof_text_grouped(struct mprof_text *t, uint64_t v); // 1,234,567
// A point in time: "2024-01-31 23:59:59 UTC", or, for
// names of files, "20240131T235959".
void mprof_text_utc(struct mprof_text *t, int64_t time_ns, bool for_name);
// What an errno value means: "no space left on device".
void mprof_text_errno(struct mprof_text *t, int error);

// One line on stderr, "mprof: " put before it; at most 16 a process, then a
// last one that says so. Nothing if stderr is closed or is not the file that
// it was when the runtime started.
void mprof_message(const char *text);
// As above, but not counted against the 16: what an exit must say.
void mprof_message_always(const char *text);
// The same in a buffer of the caller's, for a text of any length: it is put
// between the two calls.
void mprof_message_begin(struct mprof_text *t);
void mprof_message_end(struct mprof_text *t);
void mprof_message_init(void);
// Whether descriptor 2 is open and the file that it was at mprof_message_init.
bool mprof_message_has_stderr(void);

#endif // MPROF_RT_BASE_H
