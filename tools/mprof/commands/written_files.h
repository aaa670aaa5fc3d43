// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that a program has written under mprof run, and the moments that
// its heap profiles show: the peak of the memory in use, and the exit.

#ifndef MPROF_TOOL_WRITTEN_FILES_H
#define MPROF_TOOL_WRITTEN_FILES_H

#include "commands/options.h"
#include "model/profile.h"

#include <sys/types.h>

// The sorted names of MProf's files in a directory.
struct file_names {
  char **items;
  size_t count, capacity;
};

// directory: NULL if there is none.
struct file_names file_names_list(const char *directory);
void file_names_free(struct file_names *n);
bool file_names_have(const struct file_names *n, const char *name);

// Returns the absolute path of the directory for the files. Makes the directory
// if it does not exist. Returns NULL after a message.
char *output_directory(const struct options *o);
// Returns whether --heap-rate is right. Prints a message if it is not.
bool heap_rate_is_right(const struct options *o);

// A file that the program has written.
struct written_file {
  char *path;
  const char *rest; // of the path, behind the process id: "heap.pb.gz"
  // That the profile shows, for its title. NULL: a memory profile names its
  // own.
  const char *moment;
  bool is_hidden; // another file shows the same
};

// The files of the program, sorted by path.
struct written_files {
  struct written_file *items;
  size_t count, capacity;
  // New files of other processes: children, or another run.
  struct file_names others;
};

// Finds the files that the program has written. before: the names before its
// start. The times of the files would not do, because file systems have a
// coarse clock.
struct written_files written_files_find(const char *directory, pid_t program,
                                        const struct file_names *before);
void written_files_free(struct written_files *f);

// Puts the moment of the file, if it is known, into the profile, for the title,
// with the time since start_ns, when the program was started.
void written_file_add_moment(const struct written_file *file, struct profile *p,
                             int64_t start_ns);

#endif
