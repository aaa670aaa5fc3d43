// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolizes addresses in the files of modules, mapped or unloaded. Asks
// llvm-symbolizer directly, since sanitizer_common only knows modules that are
// mapped, does not report the line at which a function begins, and cannot name
// a file whose path contains a quotation mark or a line break. All functions
// here run in the symbolizer's helper process.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H

#include "symbolize/maps.h"
#include "sys/message.h"

struct mprof_file_query {
  uint64_t address; // in the ELF file, inside the call instruction
  int64_t noted_ns; // a file without build id must not be newer than this time
  char file[sizeof(((struct mprof_mapping *)0)->file)];
  char build_id[sizeof(((struct mprof_mapping *)0)->build_id)];
};

// Appends llvm-symbolizer's answer to out, in the form of symbolizer_answer.h.
// Appends nothing if the file is not the file that was loaded. symbolizer is
// the path of llvm-symbolizer. Returns false if llvm-symbolizer cannot be
// started, or if it has ended too often.
bool mprof_symbolize_file(const char *symbolizer,
                          const struct mprof_file_query *q,
                          struct mprof_text *out);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H
