// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads allocation logs (docs/alloc-log.md). A log has one or two files: when a
// file is full, the runtime renames it from LOG to LOG.1 and begins a new file.

#ifndef MPROF_TOOL_READ_ALLOC_LOG_H
#define MPROF_TOOL_READ_ALLOC_LOG_H

#include "model/alloc_log.h"

#include <stdio.h>

// The head of a file, and what its comments say.
struct log_part {
  uint64_t pid, number, begun; // number: 1 for the first file of the log
  uint64_t heap_rate;
  bool has_heap_rate;
  uint64_t lost; // events without a record
  bool is_cut;   // the last record is incomplete
};

struct log_files {
  struct log_part part;  // of LOG; is_cut and lost are those of both files
  uint64_t first_number; // of the first file that was read
  // LOG.1 is no part of this log, or cannot be read, although LOG is not the
  // first part.
  bool lacks_part_before;
};

// Reads the log at path, or from standard input for "-", and adds its records
// to the log. If path.1 is the part before, reads path.1 first. Returns NULL or
// a message, which begins with the path. The caller frees the message.
char *read_alloc_log(const char *path, struct alloc_log *log,
                     struct log_files *files);

// Reads one file. name begins the message.
char *read_alloc_log_part(FILE *file, const char *name, struct alloc_log *log,
                          struct log_part *part);

#endif
