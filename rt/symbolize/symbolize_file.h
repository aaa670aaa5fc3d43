// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolizes addresses in files of unloaded modules. llvm-symbolizer is asked
// directly about these files, because sanitizer_common knows only mapped
// modules. All functions of this file run in the symbolizer's helper process.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H

#include "symbolize/maps.h"

struct mprof_file_query {
  uint64_t address; // address in the ELF file, inside the call instruction
  // The time at which the mapping was first seen (CLOCK_REALTIME). A file
  // without build ID must not have changed since.
  int64_t noted_ns;
  char file[sizeof(((struct mprof_mapping *)0)->file)];
  char build_id[sizeof(((struct mprof_mapping *)0)->build_id)];
};

// Writes llvm-symbolizer's answer about q to `out`, which has `size` bytes.
// Each frame, innermost first, is a string of function, file and line, which
// are separated by `separator`. An empty string follows the last frame. If
// there is no answer, or if the file is not the file that was loaded, writes
// only the empty string. symbolizer is the path of llvm-symbolizer.
void mprof_symbolize_file(const char *symbolizer,
                          const struct mprof_file_query *q, char separator,
                          char *out, size_t size);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H
