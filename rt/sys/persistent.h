// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that is never freed, and 32-bit handles that identify objects in this
// memory. All of this memory lies in one reserved address range, whose size is
// the option max_memory_mb, and with the option persist also the memory of a
// trace. A forked child does not keep the data, but starts with empty memory.

#ifndef MPROF_RT_SYS_PERSISTENT_H
#define MPROF_RT_SYS_PERSISTENT_H

#include "sys/base.h"

#include "sys/message.h"

// --- the file of the option persist ---

// The file is the runtime's persistent memory, so it has the buckets and their
// counters at each moment, also after the process was killed. mprof recover
// makes profiles of it. It begins with struct mprof_persist_head:
//
//   head --roots[type]--> newest bucket --allnext--> older bucket ...
//     |--roots[NOTES]--> newest note   --next-----> older note ...
//     \--roots[TRACE]--> newest row of the trace --next--> older row ...
//
// All pointers are addresses in the process; `base` is the address of the head.
// What the buckets refer to, and is not in persistent memory, is in notes: the
// modules with the code of the stacks, the sets of labels, the names of locks.
//
// Buckets and notes are never moved or freed. They are complete before a root
// leads to them. So a process may be killed between any two stores.
//
// The counters of the heapx profile and of the peak are beside the counters of
// the buckets (heapx.h, peak.h). A row of the trace leads to the buffers with
// the records of one thread (trace_rows.h). Buffers are used again, but a row
// never leads to a buffer that has another row's records.

// 16 bytes with the 0. The last letter is the version of the layout.
#define MPROF_PERSIST_MAGIC "MProf persist 8"

enum mprof_persist_root {
  MPROF_PERSIST_BUCKETS = 0, // the first roots, by enum mprof_bucket_type
  MPROF_PERSIST_NOTES = 16,
  MPROF_PERSIST_TRACE = 17, // the rows of the trace
  // The rows of an ended trace, until its file is written. If the process is
  // killed while it ends a trace, both roots may lead to the same rows.
  MPROF_PERSIST_ENDED_TRACE = 18,
  MPROF_PERSIST_ROOTS
};

enum mprof_persist_state {
  MPROF_PERSIST_RUNS = 0,
  MPROF_PERSIST_ENDED = 1,  // the process has written its profiles at the end
  MPROF_PERSIST_IS_CUT = 2, // the file could not grow; what followed is lost
};

enum { MPROF_PERSIST_STATS = 64 };

struct mprof_persist_head {
  // Written once, before the file has any other data.
  char magic[16];
  // Sizes of structs, so that a reader of another version finds that it cannot
  // read the file: of this head, of a bucket without its stack, of a cell, and
  // the number of statistics.
  uint32_t head_size, bucket_size, cell_size, stats_len;
  uint64_t base;
  int64_t begin_ns;                               // CLOCK_REALTIME
  uint64_t heap_rate, block_rate, mutex_fraction; // the options
  int32_t pid;
  uint32_t is_child; // the file is of a forked child
  // Options. has_heapx: the counters of heapx.h follow each MEM bucket and each
  // cell. has_peak: those of peak.h precede each MEM bucket.
  uint32_t has_heapx, has_peak;
  uint64_t trace_tick_div; // ticks of the clock in one tick of the trace
  uint64_t begin_ticks;    // time of the clock at begin_ns
  char trace_format[16];   // the option
  char version[32];        // of the runtime
  char program[512];       // path of the program
  uint64_t check;          // mprof_persist_check
  // Changed while the process runs. All are atomic.
  uint64_t roots[MPROF_PERSIST_ROOTS];
  uint64_t bytes;            // bytes of the file that have data
  uint64_t ticks_per_second; // of all times
  uint64_t peak_number;      // number of the last peak (peak.h)
  uint64_t peak_ticks;       // time of the last peak; 0: there was none
  // The trace has these sizes of a row, and of a buffer without its data. It
  // also has the option trace_last (0: not given) and the number of processors
  // to show.
  uint32_t row_size, buffer_size;
  uint64_t trace_keep_ns;
  uint32_t processors;
  uint32_t state; // enum mprof_persist_state, which are bits
  uint64_t stats[MPROF_PERSIST_STATS];
};

// Returns the checksum of the head's part that is written once.
static inline uint64_t
mprof_persist_check(const struct mprof_persist_head *head) {
  return mprof_hash(MPROF_HASH_EMPTY, (const char *)head,
                    offsetof(struct mprof_persist_head, check));
}

// A note. Its data follow.
struct mprof_persist_note {
  uint64_t next; // address of the next older note; 0: none
  uint32_t type, len;
};
enum mprof_persist_note_type {
  MPROF_NOTE_MODULE = 1, // struct mprof_persist_module
  // uint32_t with the number of a set of labels, uint32_t with the number of
  // labels, then keys and values; each ends with a 0.
  MPROF_NOTE_LABELS = 2,
  MPROF_NOTE_LOCK = 3, // uint64_t with the address of a lock, then its name
  // uint64_t with the size of the CUSTOM buckets of a profile, then its name
  MPROF_NOTE_PROFILE = 4,
  // uint64_t with an address in stacks, then the name of the function, which a
  // profile shows there.
  MPROF_NOTE_HOOK = 5,
  // struct mprof_persist_python
  MPROF_NOTE_PYTHON = 6
};

// A line of Python code. The name of the function and that of the file follow,
// each with its final 0.
struct mprof_persist_python {
  uint64_t pc; // the address in stacks
  uint32_t line, start_line;
};

// A mapping of code; the fields are those of struct mprof_mapping (maps.h).
struct mprof_persist_module {
  uint64_t start, limit, offset, bias;
  uint64_t shift; // atomic
  uint32_t from;
  uint32_t to; // atomic
  char build_id[41];
  char file[256];
};

// --- the memory ---

// Returns len bytes of zeroed memory that is never freed, aligned to 64 bytes.
// Returns NULL if max_memory_mb is used up or the system has no memory, and
// counts this failure in the statistic no_memory. Takes a lock only to commit
// more memory. Call with the recursion guard (tls.h) set. (Go: persistentalloc)
void *mprof_persistent_alloc(size_t len);
// Allocates memory as mprof_persistent_alloc does, but does not count a
// failure. Use this function for memory that the caller can do without.
void *mprof_persistent_try_alloc(size_t len);
// Allocates memory for buffers of the trace, from the part of the range that is
// set aside for them. Returns NULL without a statistic if there is none. Call
// with the lock of the trace's buffers held.
void *mprof_persistent_trace_alloc(size_t len);
// The address of each allocation is a multiple of this number of bytes.
#define MPROF_PERSISTENT_UNIT 64u
// Start of the memory. Written once.
extern MPROF_HIDDEN char *mprof_persistent_base;
// A handle is a 32-bit number that identifies an object in this memory. Handle
// 0 means NULL.
static inline uint32_t mprof_persistent_handle(const void *p) {
  const uintptr_t base = (uintptr_t)mprof_persistent_base;
  return p ? (uint32_t)(((uintptr_t)p - base) / MPROF_PERSISTENT_UNIT) : 0;
}
static inline void *mprof_persistent_pointer(uint32_t handle) {
  return handle ? mprof_persistent_base + (size_t)handle * MPROF_PERSISTENT_UNIT
                : NULL;
}
// Returns the object with a handle that is not 0.
static inline void *mprof_persistent_known(uint32_t handle) {
  return mprof_persistent_base + (size_t)handle * MPROF_PERSISTENT_UNIT;
}
// Stores the handle of the new object `mine` in *handle, which is 0. If another
// thread has stored the handle of an object meanwhile, returns that object, and
// otherwise `mine`.
static inline void *mprof_persistent_publish(_Atomic uint32_t *handle,
                                             void *mine) {
  uint32_t other = 0;
  return atomic_compare_exchange_strong(handle, &other,
                                        mprof_persistent_handle(mine))
             ? mine
             : mprof_persistent_known(other);
}
// Returns the number of bytes allocated so far.
size_t mprof_persistent_used(void);
// Reserves max_bytes of address space and trace_bytes for the trace, or less if
// the system refuses to reserve so much. Returns 0 or -ENOMEM. After -ENOMEM,
// every allocation fails.
int mprof_persistent_init(size_t max_bytes, size_t trace_bytes);
// Discards all contents. Called in a forked child and between unit tests.
void mprof_persistent_reset(void);

// --- the file of the option persist ---

// The start of the memory if it lies in a file, otherwise NULL. Written under
// persistent_lock by the first allocation, and in a forked child.
extern MPROF_HIDDEN struct mprof_persist_head *mprof_persist_head;
// Makes the memory lie in a file. Call this function before the first
// allocation. `commit` provides memory for len bytes from `offset` on, as a
// part of the file. If it returns false, the memory is private to the process.
// Called with persistent_lock held.
void mprof_persistent_use_file(bool (*commit)(char *base, size_t offset,
                                              size_t len));
// Makes the memory private in a forked child, so that its changes do not reach
// the parent's file. Call this before the child changes anything.
// make_private: does this for the `len` bytes at `base`.
void mprof_persistent_leave_file(void (*make_private)(char *base, size_t len));
// Calls move_out, which makes the present memory private, and makes all later
// memory private. Holds persistent_lock meanwhile.
void mprof_persistent_stop_file(void (*move_out)(void));
// Returns whether the len bytes at p lie in the file. They do not if the file
// could not grow.
static inline bool mprof_persist_has(const void *p, size_t len) {
  return mprof_persist_head != NULL &&
         (uintptr_t)p + len - (uintptr_t)mprof_persist_head <=
             __atomic_load_n(&mprof_persist_head->bytes, __ATOMIC_ACQUIRE);
}
// Stores the address p as a root of the file, if the len bytes at p lie in the
// file. Otherwise the root keeps leading to the objects that do.
static inline void mprof_persist_set_root(unsigned root, const void *p,
                                          size_t len) {
  if (mprof_unlikely(mprof_persist_head != NULL) && mprof_persist_has(p, len))
    __atomic_store_n(&mprof_persist_head->roots[root], (uintptr_t)p,
                     __ATOMIC_RELEASE);
}
// Adds a note to the file: len bytes of data, and then tail_len bytes. Returns
// the note's data, or NULL if there is no file or no memory. Call with the
// recursion guard set.
void *mprof_persist_note(enum mprof_persist_note_type type, const void *data,
                         size_t len, const void *tail, size_t tail_len);

#endif // MPROF_RT_SYS_PERSISTENT_H
