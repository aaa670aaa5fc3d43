// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a process as the kernel shows it: the mappings with their
// resident bytes (/proc/PID/smaps), the pages of a mapping that are resident
// (/proc/PID/pagemap), and the words in the memory. The process may be this one
// or another one, and it runs on while it is read: each result is true of some
// moment, not all results of the same one.
//
// Nothing here takes a lock, calls libc's heap or changes the process. A read
// copies memory by a system call, so no fault can occur. Only one thread may
// use a struct mprof_process. All memory comes from mprof_os_map.

#ifndef MPROF_RT_MEMORY_PROCESS_MEMORY_H
#define MPROF_RT_MEMORY_PROCESS_MEMORY_H

#include "sys/base.h"

struct mprof_bucket;

// Bytes of memory, from several points of view.
struct mprof_usage {
  uint64_t mapped;        // address space
  uint64_t rss;           // resident
  uint64_t pss;           // resident, each shared page divided by its users
  uint64_t private_dirty; // resident, written, used by no other process
  uint64_t swap;          // swapped out
};

// Adds the bytes of `more` to *sum.
void mprof_usage_add(struct mprof_usage *sum, const struct mprof_usage *more);

// Subtracts bytes that are part of *from.
void mprof_usage_subtract(struct mprof_usage *from,
                          const struct mprof_usage *less);

// Returns the bytes *all times n / of, without `mapped`; no bytes if `of` is 0.
struct mprof_usage mprof_usage_part(const struct mprof_usage *all, uint64_t n,
                                    uint64_t of);

// A mapping: a range of addresses with the same rights and the same file.
struct mprof_mapped {
  uintptr_t start, limit;
  struct mprof_usage usage;
  uint64_t offset, inode; // of the file; inode 0: no file
  uint32_t name;          // in mprof_process.names
  bool is_readable, is_writable, is_executable, is_shared;
};

// A range of addresses, and the stack that has mapped it.
struct mprof_mapped_range {
  uintptr_t start, limit;
  const struct mprof_bucket *stack;
  uintptr_t caller; // the first return address of the stack
};

// Pages whose copies are kept, by address.
enum { MPROF_COPIES = 64 };

struct mprof_process {
  int pid;                       // 0: this process
  bool has_pagemap;              // the file could be opened
  int pagemap;                   // descriptor
  struct mprof_mapped *mappings; // sorted by address
  size_t mappings_len, mappings_bytes;
  char *names; // the names of the mappings, each ended by a 0
  size_t names_len, names_bytes;
  // Bytes that are resident although the program has given them back
  // (MADV_FREE), and bytes of hugetlbfs, which the kernel does not count as
  // resident.
  uint64_t lazy_free, hugetlb;
  // Entries of the pagemap from page `first_page` on.
  uintptr_t first_page;
  size_t pages_len;
  uint64_t pages[512];
  uint64_t (*copies)[MPROF_PAGE / 8]; // MPROF_COPIES pages
  uintptr_t copy_of[MPROF_COPIES];    // addresses of the pages; 0: none
};

// Reads the mappings of a process. pid: 0 or a process id. Returns 0 or -errno.
// Call mprof_process_close also after an error.
int mprof_process_open(struct mprof_process *p, int pid);
void mprof_process_close(struct mprof_process *p);
// Frees what is needed to read the process further, and keeps the names and the
// numbers.
void mprof_process_end_reading(struct mprof_process *p);

// Reads the mappings from a text in the format of smaps, for tests. Returns 0
// or -ENOMEM.
int mprof_process_parse(struct mprof_process *p, const char *text, size_t len);

// Makes room for `more` bytes after the first `len` bytes of the array *v,
// which has *bytes bytes of mapped memory; 0: no array. Returns false, and
// leaves the array as it is, if there is no memory.
bool mprof_process_grow(void **v, size_t *bytes, size_t len, size_t more);

static inline const char *mprof_process_name(const struct mprof_process *p,
                                             const struct mprof_mapped *m) {
  return p->names + m->name;
}
// Returns the mapping that contains addr, or NULL.
const struct mprof_mapped *mprof_process_at(const struct mprof_process *p,
                                            uintptr_t addr);

// Copies len bytes of the process at address `from`. Returns false if they are
// not all readable.
bool mprof_process_copy(struct mprof_process *p, void *to, uintptr_t from,
                        size_t len);
// Reads the word at addr, a multiple of 8. Returns 0 if its page is not
// readable or not resident: the read must not swap it in. The word may be as
// old as the last mprof_process_forget.
uintptr_t mprof_process_word(struct mprof_process *p, uintptr_t addr);
// Makes the next mprof_process_word read the memory again.
void mprof_process_forget(struct mprof_process *p);

// Returns which bytes of the range are resident, and which are swapped out. A
// page of which the range has only a part counts with this part. pss is
// left 0, and private_dirty has the bytes of pages that no other mapping has.
// Without a pagemap, the result is the share of the range in its mapping's
// bytes.
struct mprof_usage mprof_process_pages(struct mprof_process *p, uintptr_t start,
                                       uintptr_t limit);

// --- cgroups ---

// Returns the path of a line "N:CONTROLLERS:PATH" of /proc/PID/cgroup that has
// memory, or NULL. The path ends at line + len. *is_second: whether the line is
// that of version 2, "0::PATH".
const char *mprof_cgroup_path(const char *line, size_t len, bool *is_second);

#endif // MPROF_RT_MEMORY_PROCESS_MEMORY_H
