// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the functions, files and lines of return addresses after a profile is
// written, so that the next profile does not look them up again. Call all
// functions except mprof_names_forget with writer_lock held.

#ifndef MPROF_RT_SYMBOLIZE_NAMES_H
#define MPROF_RT_SYMBOLIZE_NAMES_H

#include "sys/base.h"

struct mprof_name {
  const char *function, *file; // "": unknown
  uint32_t line, start_line;   // 0: unknown
};
// The functions of an address, innermost first. len is 0 if llvm-symbolizer
// does not know the address.
struct mprof_names {
  uint64_t module;
  size_t len;
  struct mprof_name v[];
};
// Returns the kept names of the return address pc, or NULL if there are none.
// module: number of the module that is at pc now. It is needed because another
// module may have been loaded at the same address since the names were kept.
const struct mprof_names *mprof_names_find(mprof_pc pc, uint64_t module);
// Keeps the names of pc. reply has a string for each frame, in the form of
// symbolizer_answer.h, and an empty string at its end. Returns NULL if there is
// no memory. The result is valid until mprof_names_trim.
const struct mprof_names *mprof_names_keep(mprof_pc pc, uint64_t module,
                                           const char *reply);
// Drops all names if they take more memory than the limit. Also drops all names
// if they take more than half of the limit and a module was unloaded since the
// last call, because some of the names are no longer needed. unloads: number of
// unloads so far.
void mprof_names_trim(uint32_t unloads);
// Returns the number of bytes that the names take.
size_t mprof_names_bytes(void);
// Forgets the names in a forked child. The memory of the names is not in the
// child.
void mprof_names_forget(void);

#endif // MPROF_RT_SYMBOLIZE_NAMES_H
