// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolizes addresses in files of unloaded modules. sanitizer_common only
// knows modules that are mapped, so llvm-symbolizer is asked directly about
// these files. All functions here run in the symbolizer's helper process.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H

#include "symbolize/maps.h"

struct mprof_file_query {
  uint64_t address; // in the ELF file, inside the call instruction
  int64_t noted_ns; // a file without build id must not be newer than this time
  char file[sizeof(((struct mprof_mapping *)0)->file)];
  char build_id[sizeof(((struct mprof_mapping *)0)->build_id)];
};

// Writes llvm-symbolizer's answer to out, in the form that symbolize.c uses.
// Each frame, innermost first, is a string of function, file and line with
// separator between them. An empty string follows the last frame. Writes only
// the empty string if there is no answer, or if the file is not the file that
// was loaded. symbolizer is the path of llvm-symbolizer.
void mprof_symbolize_file(const char *symbolizer,
                          const struct mprof_file_query *q, char separator,
                          char *out, size_t size);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H
