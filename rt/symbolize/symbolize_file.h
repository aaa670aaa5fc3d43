// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of addresses in files that are not mapped: those of unloaded modules,
// which sanitizer_common does not know. llvm-symbolizer is asked directly. All
// of this runs in the symbolizer's helper process.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H

#include "symbolize/maps.h"

struct mprof_file_query {
  uint64_t address; // as the ELF file has it, inside the call
  int64_t noted_ns; // a file without build id counts if it is older than this
  char file[sizeof(((struct mprof_mapping *)0)->file)];
  char build_id[sizeof(((struct mprof_mapping *)0)->build_id)];
};

// Writes to out what llvm-symbolizer answers, in symbolize.c's form: a string
// for each frame, innermost first, of function, file and line with separator
// between, and an empty one. Only the empty one if there is no answer, or if
// the file is not the one that was loaded. symbolizer: its path.
void mprof_symbolize_file(const char *symbolizer,
                          const struct mprof_file_query *q, char separator,
                          char *out, size_t size);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H
