// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits the number of old output files. A set is the files of one output.
// There are three lists of sets: the snapshots that a process writes at signals
// and the traces of slow tasks (option dump_keep), and the outputs of all
// forked children (option children_keep). A new set in a full list replaces the
// oldest set, whose files are removed. If log_path is relative, and the program
// has changed its directory after it wrote the oldest set, the files of this
// set stay.

#ifndef MPROF_RT_FILE_KEEP_NEWEST_H
#define MPROF_RT_FILE_KEEP_NEWEST_H

#include "sys/base.h"

enum mprof_keep_list {
  MPROF_KEEP_SNAPSHOTS,
  MPROF_KEEP_SLOW_TASKS,
  MPROF_KEEP_CHILDREN,
  MPROF_KEEP_LISTS
};

// Maximum bytes of the paths of a set. If the paths are longer, the files of
// the set are never removed.
#define MPROF_KEEP_BYTES 8192

// The paths of a set.
struct mprof_keep_set {
  size_t len; // bytes used; MPROF_KEEP_BYTES + 1: the paths do not fit
  char paths[MPROF_KEEP_BYTES]; // one after the other, each ends with a 0
};

// Adds the path of a file that was written.
void mprof_keep_add(struct mprof_keep_set *set, const char *path);
// Adds the set to a list, and removes the files of the set that it replaces.
// Does nothing if the list's option sets no limit. Call with writer_lock held.
void mprof_keep_newest(enum mprof_keep_list which,
                       const struct mprof_keep_set *set);

// Creates the list of children. Called at start.
void mprof_keep_init(void);
// Empties the lists of snapshots and of slow tasks in a forked child, because
// these files belong to its parent.
void mprof_keep_reset(void);

#endif // MPROF_RT_FILE_KEEP_NEWEST_H
