// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the table of mprof memory, for all commands that show it.

#ifndef MPROF_TOOL_SHOW_MEMORY_H
#define MPROF_TOOL_SHOW_MEMORY_H

#include "commands/options.h"
#include "terminal/style.h"
#include "view/memory_parts.h"

// Which rows and columns are shown.
struct memory_shown {
  size_t limit;       // of the rows of a part; 0: all
  int64_t least;      // bytes that a row below a part must have
  int64_t least_part; // bytes that a part must have
  bool is_short;      // only the resident bytes
  bool is_holes;      // only the stacks that keep free memory of malloc
  const char *path;   // of the only profile, for --holes; else NULL
};

// Prints a command that runs the program of the profile again, so that the
// stacks that keep free memory of malloc are known.
void show_memory_put_finer(const struct profile *p, FILE *out);

// Returns the choice for reports with tables of several profiles: the largest
// rows, without those that nobody would notice.
struct memory_shown memory_shown_briefly(const struct memory_parts *m);

// Returns the view of a memory profile from which the table is made, or NULL
// after a message in error.
struct view *memory_view(struct profile *p, struct view_options wanted,
                         char *error, size_t size);

// Print the table, with its title and the lines behind it. v: from memory_view.
void show_memory(const struct view *v, const struct memory_parts *m,
                 const struct memory_shown *shown, FILE *out,
                 const struct style *style);
void show_memory_markdown(const struct view *v, const struct memory_parts *m,
                          const struct memory_shown *shown, FILE *out);

// Returns the sentences behind the table, one in each line: the total, notes of
// the profile, and advice with the command that shows more. path: as in struct
// memory_shown. The caller frees them.
char *show_memory_sentences(const struct view *v, const struct memory_parts *m,
                            const char *path);

// Shows several memory profiles of a process as a chart: mprof memory
// --over-time. Returns the exit status.
int memory_over_time(const struct options *options);

#endif
