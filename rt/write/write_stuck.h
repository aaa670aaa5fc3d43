// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the stuck threads that stuck.c has found, as text for people. The text
// is a separate file or a section of the exit report.

#ifndef MPROF_RT_WRITE_WRITE_STUCK_H
#define MPROF_RT_WRITE_WRITE_STUCK_H

struct mprof_outfile;
struct mprof_report;
struct mprof_stuck;
struct mprof_stuck_thread;
struct mprof_thread_stacks;

// Writes into `text` a sentence about the threads that sleep in a futex wait
// that the runtime has not recorded. Returns text. Returns NULL if there is no
// such thread.
enum { MPROF_UNSEEN_TEXT = 256 };
const char *mprof_unseen_text(char text[MPROF_UNSEEN_TEXT],
                              const struct mprof_thread_stacks *s);

// Returns the id of the thread that holds the lock for which thread x waits, or
// of the thread that x joins. Returns 0 if the thread is unknown, or if several
// threads hold the lock.
int mprof_stuck_holder(const struct mprof_stuck *g,
                       const struct mprof_stuck_thread *x);

// Writes the stuck threads to f. Returns 0 or the first error of f. The caller
// closes f. Call with the recursion guard set and writer_lock held.
int mprof_write_stuck_list(struct mprof_outfile *f,
                           const struct mprof_stuck *g);

// mprof_report_stuck writes the section of the exit report.
// mprof_report_stuck_summary writes the machine-readable summary line at the
// end of the report.
void mprof_report_stuck(struct mprof_report *w, const struct mprof_stuck *g);
void mprof_report_stuck_summary(struct mprof_report *w,
                                const struct mprof_stuck *g);

#endif // MPROF_RT_WRITE_WRITE_STUCK_H
