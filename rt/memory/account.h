// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The account of a process's memory: each resident byte belongs to one part,
// such as free memory of malloc or the stacks of threads. The bytes of all
// parts add up to what the kernel counts.
//
//   smaps ----------> mappings ---.
//   pagemap --------> pages -------+--> segments --> rows, one for each part
//   memory of the ---> heaps, -----'                 and detail
//   process            stacks

#ifndef MPROF_RT_MEMORY_ACCOUNT_H
#define MPROF_RT_MEMORY_ACCOUNT_H

#include "memory/owners.h"
#include "memory/process_memory.h"

struct mprof_bucket;
struct mprof_text;

// The parts, with their names in profiles and the text for people.
#define MPROF_MEMORY_PARTS(PART)                                               \
  PART(USED, "[malloc: in use]", "malloc: blocks in use")                      \
  PART(LISTED, "[malloc: free]", "malloc: free memory between blocks")         \
  PART(PAGES, "[malloc: free pages]", "malloc: whole free pages")              \
  PART(CACHED, "[malloc: cached]", "malloc: freed blocks, kept for reuse")     \
  PART(TOP, "[malloc: end of heap]",                                           \
       "malloc: free memory at the end of heaps")                              \
  PART(OWN, "[malloc: own data]", "malloc: its own data")                      \
  PART(UNSPLIT, "[malloc: in use or free]",                                    \
       "memory of another malloc, in use or free")                             \
  PART(MAPPED, "[mapped memory]",                                              \
       "mapped memory, by the stack that mapped it")                           \
  PART(UNKNOWN, "[anonymous memory]", "anonymous memory of unknown origin")    \
  PART(STACKS, "[thread stacks]", "stacks of threads")                         \
  PART(DATA, "[module data]", "variables of the program and its libraries")    \
  PART(CODE, "[module code]", "code of the program and its libraries")         \
  PART(FILES, "[mapped files]", "mapped files")                                \
  PART(SHARED, "[shared memory]", "shared memory")                             \
  PART(DEVICES, "[devices]", "devices, and pages of the kernel")               \
  PART(MPROF, "[MProf]", "MProf itself")

enum mprof_memory_part {
#define PART(Id, Name, Text) MPROF_MEMORY_##Id,
  MPROF_MEMORY_PARTS(PART)
#undef PART
      MPROF_MEMORY_PART_COUNT
};

// Returns the name of a part, such as "[MProf]".
const char *mprof_memory_part_name(enum mprof_memory_part part);
// Returns the text of a part for people, such as "MProf itself".
const char *mprof_memory_part_text(enum mprof_memory_part part);

struct mprof_account_row {
  enum mprof_memory_part part;
  // Name of the file, the thread or the arena to which the bytes belong. NULL:
  // nothing more is known.
  const char *detail;
  // That has mapped the memory, or allocated the blocks that keep it
  // (owners.h); or NULL.
  const struct mprof_bucket *stack;
  // Bytes of these blocks in the pages with this memory.
  uint64_t used_beside;
  struct mprof_usage usage;
};

// How much of the large blocks of a stack is resident. The others may never
// have been touched.
struct mprof_touched {
  const struct mprof_bucket *stack;
  uint64_t bytes, resident;
};

struct mprof_account {
  struct mprof_account_row *rows; // sorted by part and detail
  size_t rows_len, rows_bytes;
  struct mprof_usage total;
  struct mprof_process process; // has the names of the rows
  // Heaps of malloc that could not be walked, because the program has changed
  // them too quickly or their layout is unknown.
  size_t heaps_unwalked;
  // Resident bytes of glibc's free memory between blocks, and those of them
  // that are whole pages.
  uint64_t free_bytes, free_pages;
  // Resident bytes that blocks in use do not keep, so that malloc could give
  // them back.
  uint64_t releasable;
  // The large blocks of glibc's malloc that were sampled.
  struct mprof_touched *touched;
  size_t touched_len, touched_bytes;
  struct mprof_pc_table touched_by_stack; // bucket -> index, plus 1
};

// Returns how much of `bytes` bytes of large blocks with this stack is
// resident, estimated by those that were sampled.
uint64_t mprof_account_touched(const struct mprof_account *a,
                               const struct mprof_bucket *stack,
                               uint64_t bytes);

// Takes the account of a process. pid: 0, which is this process, or a process
// id. ranges: n ranges, sorted by address, that do not overlap. stack_of: tells
// the stacks of sampled blocks; or NULL. splits_free: free memory of glibc's
// malloc is split by the stacks of the blocks that keep it. Returns 0 or
// -errno: -EACCES, -EPERM or -ENOENT if /proc does not show the process, or
// -ENOMEM. Call mprof_account_free also after an error. The process is not
// stopped.
int mprof_account_take(struct mprof_account *a, int pid,
                       const struct mprof_mapped_range *ranges, size_t n,
                       mprof_block_stack_fn *stack_of, bool splits_free);
void mprof_account_free(struct mprof_account *a);
// Appends a sentence to the comment "note: SENTENCE; SENTENCE", unless the
// size in it is 0.
void mprof_account_put_note(struct mprof_text *t, const char *before,
                            uint64_t bytes, const char *after);
// Appends what the rows do not say, as a comment of a profile. Appends nothing
// if there is nothing to say.
void mprof_account_put_notes(struct mprof_text *t,
                             const struct mprof_account *a);

#endif // MPROF_RT_MEMORY_ACCOUNT_H
