// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the module (program or library) that contains a code address, and the
// module's unwind tables. Uses _dl_find_object if libc has it (glibc 2.35).
// Otherwise reads the loader's list of modules, which it publishes for
// debuggers. Both ways take no lock, allocate nothing, and may be used in
// signal handlers.

#ifndef MPROF_RT_UNWIND_FIND_MODULE_H
#define MPROF_RT_UNWIND_FIND_MODULE_H

#include "sys/base.h"
#include "unwind/rules.h"

struct mprof_code_module {
  uintptr_t start, limit; // the loader has mapped the module at [start, limit)
  const void *eh_frame_hdr;
};

// Stores the module that contains pc. Returns false if there is no such module,
// or if the module has no section .eh_frame_hdr.
bool mprof_find_module(uintptr_t pc, struct mprof_code_module *m);

// Stores the addresses of the definitions of a symbol in different modules, at
// most `max`, and returns their number. In contrast to mprof_module_symbol,
// takes no lock: the kernel copies all that is read. So a result may be wrong
// if a module is being loaded or unloaded, and may be unmapped at any time.
size_t mprof_find_definitions(const char *name, struct mprof_window *w,
                              uintptr_t *found, size_t max);

// Asks the loader for _dl_find_object. Takes the loader's lock, so call it when
// the runtime starts. Before, the loader's list is read.
void mprof_find_module_init(void);

#endif // MPROF_RT_UNWIND_FIND_MODULE_H
