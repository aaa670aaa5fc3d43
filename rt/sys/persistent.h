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
#include "sys/persist_head.h"

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
// Returns the number of bytes allocated so far.
size_t mprof_persistent_used(void);
// Reserves max_bytes of address space and trace_bytes for the trace, or less if
// the system refuses to reserve so much. Returns 0 or -ENOMEM. After -ENOMEM,
// every allocation fails.
int mprof_persistent_init(size_t max_bytes, size_t trace_bytes);
// Discards all contents. Called in a forked child and between unit tests.
void mprof_persistent_reset(void);

// --- the file of the option persist (persist_head.h) ---

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
