// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the profiles of thread stacks that the profile threadleak, which
// shows the stuck threads, also uses.

#ifndef MPROF_RT_WRITE_KIND_THREADS_H
#define MPROF_RT_WRITE_KIND_THREADS_H

#include "thread_stacks/thread_stacks.h"

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

#endif // MPROF_RT_WRITE_KIND_THREADS_H
