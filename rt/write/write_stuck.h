// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shows the stuck threads that stuck.c has found, as text for people: in a file
// of their own, or as a section of the exit report.

#ifndef MPROF_RT_WRITE_WRITE_STUCK_H
#define MPROF_RT_WRITE_WRITE_STUCK_H

struct mprof_outfile;
struct mprof_report;
struct mprof_stuck;
struct mprof_thread_stacks;

// Writes to text a sentence about the threads that the search did not judge,
// and returns text; returns NULL if there are none.
enum { MPROF_UNSEEN_TEXT = 256 };
const char *mprof_unseen_text(char text[MPROF_UNSEEN_TEXT],
                              const struct mprof_thread_stacks *s);

// Writes the stuck threads to f. Returns 0 or the first error of f, which the
// caller closes. Call with the guard set and writer_lock held.
int mprof_write_stuck_list(struct mprof_outfile *f,
                           const struct mprof_stuck *g);

// Write the section of the exit report, and its lines for scripts.
void mprof_report_stuck(struct mprof_report *w, const struct mprof_stuck *g);
void mprof_report_stuck_summary(struct mprof_report *w,
                                const struct mprof_stuck *g);

#endif // MPROF_RT_WRITE_WRITE_STUCK_H
