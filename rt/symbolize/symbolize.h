// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of addresses.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_H

#include "sys/base.h"

struct mprof_frame {
  const char *function; // demangled; "" if unknown
  const char *file;     // "" if unknown
  unsigned line;
  const char *module; // file name of the mapping, "" if unknown
  bool is_library;    // module is not the program's own file
  uintptr_t offset;   // in the module
};
// Starts naming frames; with names through the external llvm-symbolizer, else
// or where there is none, which is said once, by module and offset only, and so
// if the process is AT_SECURE. 0 or an errno value. Between the two calls
// memory and a process are held, and no address is asked for twice; a begin
// inside another's shares what it has.
int mprof_symbolize_begin(bool names);
void mprof_symbolize_end(void);
// From here on it names modules and offsets only; or as before. Guarded by
// writer_lock.
void mprof_symbolize_turn_off(bool off);
// In a forked child: as if nothing had begun. Another thread of the parent may
// have been anywhere in it, so memory is leaked on purpose.
void mprof_symbolize_forget(void);
// As mprof_maps_shown.
mprof_pc mprof_symbolize_shown(mprof_pc pc, uint32_t gone);
// Calls fn for each frame at a return address, innermost first; inlined ones
// are those before the last. The address must lie in a mapping; if not, fn is
// not called and the result is false.
bool mprof_symbolize(mprof_pc pc,
                     void (*fn)(const struct mprof_frame *, void *), void *arg);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_H
