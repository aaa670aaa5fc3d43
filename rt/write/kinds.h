// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kinds of profiles share with each other and with the rest of the
// runtime, besides the interface in profiles.h.

#ifndef MPROF_RT_WRITE_KINDS_H
#define MPROF_RT_WRITE_KINDS_H

#include "snapshot/snapshot.h"
#include "sys/base.h"
#include "thread_stacks/thread_stacks.h"

// --- heap (kind_heap.c) ---
//
// The parts of the profiles heap, allocs and peak that other files use.

// The data from which the profiles heap and allocs are written and, at the end
// of the process, the profile heapx, too.
struct mprof_heap_copy {
  struct mprof_mem_snapshot snapshot;
  struct mprof_heap_groups stacks; // groups of the samples by stack
};

// Returns the reason why g has no samples, as a text for people. Returns NULL
// if g has samples.
// rate: current sampling rate of the heap profile, in bytes.
const char *mprof_heap_groups_why_none(const struct mprof_heap_groups *g,
                                       uint64_t rate);

struct mprof_pprof;
struct mprof_pprof_label;
// The keys of the labels that mprof_heap_put_sample writes.
#define MPROF_HEAP_KEYS {"bytes", "heap_rate"}
// Writes a sample in pprof's format (pprof.h), with the size of its blocks as a
// label. The error of the values depends on the rate at which the blocks were
// sampled. If this is not the rate of the snapshot m, the rate is a label, too.
// keys: the string numbers of MPROF_HEAP_KEYS. more: a further label, or NULL.
void mprof_heap_put_sample(struct mprof_pprof *w,
                           const struct mprof_mem_snapshot *m,
                           const struct mprof_bucket *b, const int64_t *values,
                           const uint64_t *keys,
                           const struct mprof_pprof_label *more);

// --- the highest memory (kind_memory.c) ---
//
// The highest memory of the process, from accounts taken while it runs. It is
// written at exit if the program has freed most of its memory before, so that
// the exit would not show what people search.

// Takes the account of the present, and keeps it if more memory is in use than
// in the kept one. Call with writer_lock held, in a thread of the runtime.
void mprof_memory_keep(void);

// Makes profiles that are taken from now on show the exit or the kept account.
// The process is about to end.
void mprof_memory_end(void);

// --- stacks of threads (kind_threads.c) ---
//
// The parts of the profiles of thread stacks that the profile threadleak, which
// shows the stuck threads, also uses.

struct mprof_outfile;

// Merges slots of s that have equal stacks and labels and are equal in three
// fields (thread_stacks.h): the object for which a stuck thread waits
// (stack.object), how the stack was read (source), and how certain it is that
// the thread is stuck (grade). A slot has the stack of one thread. Sets the
// count of each remaining slot to its number of threads. Then sorts the slots
// by count, largest first.
void mprof_thread_stacks_group(struct mprof_thread_stacks *s);

// These functions write stacks that were grouped by mprof_thread_stacks_group,
// as legacy text (legacy.h) or in pprof's format (pprof.h). They return 0 or
// the first error of f. The caller closes f. Call them with the recursion guard
// set and writer_lock held. (Go: printCountProfile)
// name: name of the profile, which is written to the file.
int mprof_write_threads_text(struct mprof_outfile *f,
                             const struct mprof_thread_stacks *s,
                             const char *name);
int mprof_write_threads_pprof(struct mprof_outfile *f,
                              const struct mprof_thread_stacks *s,
                              const char *name);

// Writes into `text` a sentence about the threads that sleep in a futex wait
// that the runtime has not recorded. Returns text. Returns NULL if there is no
// such thread.
enum { MPROF_UNSEEN_TEXT = 256 };
const char *mprof_unseen_text(char text[MPROF_UNSEEN_TEXT],
                              const struct mprof_thread_stacks *s);

#endif // MPROF_RT_WRITE_KINDS_H
