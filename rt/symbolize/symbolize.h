// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the functions, files and lines of return addresses. A helper process
// runs llvm-symbolizer, so that the program is not disturbed (symbolize.c).
// Call all functions except mprof_symbolize_forget with writer_lock held.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_H

#include "sys/base.h"

struct mprof_frame {
  const char *function; // demangled; "" if unknown
  const char *file;     // "" if unknown
  unsigned line,
      start_line;     // start_line: where the function begins; 0: unknown
  const char *module; // file name of the mapping, "" if unknown
  bool is_library;    // module is a file other than the program's
  uintptr_t offset;   // address in the module's file
};
// Prepares for calls of mprof_symbolize. If names is true, mprof_symbolize gets
// the names of functions from llvm-symbolizer. It starts a helper process for
// the first address whose names are unknown, and keeps the names for later
// profiles (names.h). If llvm-symbolizer is not found, which is reported once,
// or if the process is AT_SECURE, frames have only module and offset. Returns 0
// or -errno. The helper process exists until mprof_symbolize_end. Calls may be
// nested; inner calls use the helper of the outermost call.
int mprof_symbolize_begin(bool names);
void mprof_symbolize_end(void);
// Sets whether later calls of mprof_symbolize_begin ignore names. If off is
// true, frames have only module and offset. If off is false, frames have
// function names again. Guarded by writer_lock.
void mprof_symbolize_turn_off(bool off);
// Resets the symbolizer in a forked child. Leaks its memory on purpose: at the
// fork, another thread of the parent may have been changing this memory.
void mprof_symbolize_forget(void);
// Returns the address at which output files show the return address pc. Calls
// mprof_maps_shown (maps.h) with the current list of mappings.
mprof_pc mprof_symbolize_shown(mprof_pc pc, uint32_t gone);
// Calls fn for each function at the return address pc, innermost first. All
// functions but the last are inlined. Returns false without calling fn if no
// mapping contains pc.
bool mprof_symbolize(mprof_pc pc,
                     void (*fn)(const struct mprof_frame *, void *), void *arg);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_H
