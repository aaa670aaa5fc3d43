// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stuck threads, for people.

#ifndef MPROF_RT_WRITE_WRITE_STUCK_H
#define MPROF_RT_WRITE_WRITE_STUCK_H

struct mprof_outfile;
struct mprof_report;
struct mprof_stuck;
struct mprof_thread_stacks;

// What the search did not see, for people, in text, which it returns; NULL if
// there is nothing.
enum { MPROF_UNSEEN_TEXT = 256 };
const char *mprof_unseen_text(char text[MPROF_UNSEEN_TEXT],
                              const struct mprof_thread_stacks *s);

// A file for people; path NULL: to stderr. 0 or an errno value.
int mprof_write_stuck_list(struct mprof_outfile *f,
                           const struct mprof_stuck *g);

// The section of the report, and its lines for scripts.
void mprof_report_stuck(struct mprof_report *w, const struct mprof_stuck *g);
void mprof_report_stuck_summary(struct mprof_report *w,
                                const struct mprof_stuck *g);

#endif // MPROF_RT_WRITE_WRITE_STUCK_H
