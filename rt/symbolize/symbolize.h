// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of functions, files and lines for return addresses. A helper process
// runs llvm-symbolizer, so the program is not disturbed (symbolize.c). Call all
// functions but mprof_symbolize_forget with writer_lock held.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_H

#include "sys/base.h"

struct mprof_frame {
  const char *function; // demangled; "" if unknown
  const char *file;     // "" if unknown
  unsigned line;
  const char *module; // file name of its mapping, "" if unknown
  bool is_library;    // module is a file other than the program's
  uintptr_t offset;   // of the address in the module
};
// Begins to symbolize. If names is true, frames get names from the external
// llvm-symbolizer. If it is not found, which is reported once, or if the
// process is AT_SECURE, frames have only module and offset. Returns 0 or
// -errno. Until mprof_symbolize_end, memory and a helper process are held,
// and each address is looked up only once. Calls may be nested; the inner ones
// share the outer one's results.
int mprof_symbolize_begin(bool names);
void mprof_symbolize_end(void);
// true: from now on, names only modules and offsets. false: names functions
// again. Guarded by writer_lock.
void mprof_symbolize_turn_off(bool off);
// Forgets everything, in a forked child. Another thread of the parent may have
// been anywhere in this module, so memory is leaked on purpose.
void mprof_symbolize_forget(void);
// Returns mprof_maps_shown of the current list of mappings (maps.h).
mprof_pc mprof_symbolize_shown(mprof_pc pc, uint32_t gone);
// Calls fn for each frame at a return address, innermost first. All but the
// last are inlined functions. Returns false without a call if no mapping
// contains the address.
bool mprof_symbolize(mprof_pc pc,
                     void (*fn)(const struct mprof_frame *, void *), void *arg);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_H
