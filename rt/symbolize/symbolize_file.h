// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolizes addresses in the files of modules, mapped or unloaded, by
// llvm-symbolizer. All functions of this file run in the helper process.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H

#include "symbolize/maps.h"
#include "sys/message.h"

struct mprof_file_query {
  uint64_t address; // address in the ELF file, inside the call instruction
  // The time at which the mapping was first seen (CLOCK_REALTIME). A file
  // without build ID must not have changed since this time.
  int64_t noted_ns;
  char file[sizeof(((struct mprof_mapping *)0)->file)];
  char build_id[sizeof(((struct mprof_mapping *)0)->build_id)];
};

// Appends llvm-symbolizer's answer about q to `out`, in the form that
// symbolizer_answer.h describes. Appends nothing if the file is not the file
// that was loaded. symbolizer is the path of llvm-symbolizer. Returns false if
// llvm-symbolizer cannot be started, or if it has ended too often.
bool mprof_symbolize_file(const char *symbolizer,
                          const struct mprof_file_query *q,
                          struct mprof_text *out);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_FILE_H
