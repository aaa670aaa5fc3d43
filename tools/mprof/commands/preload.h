// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How mprof run profiles a program that was built without MProf: the dynamic
// linker loads the runtime into it, because LD_PRELOAD names the runtime's
// library libmprof_preload.so.

#ifndef MPROF_TOOL_PRELOAD_H
#define MPROF_TOOL_PRELOAD_H

#include "commands/options.h"

struct preload_facts {
  bool records_nothing; // a note says that the program records nothing
  bool is_go;           // see struct elf_info
};

// Returns the path of the library. It is found by the place of this program, so
// that an installed tree can be moved. Returns NULL if it is not there. The
// caller frees the path.
char *preload_library(void);
// Returns the value of LD_PRELOAD with which `program`, a path or a name as for
// execvp, is to run. Returns NULL if the program was built with MProf, does not
// exist, or cannot be profiled without a rebuild. Prints a note if some or all
// of the program's events will not be seen. The caller frees the result.
char *preload_for(const struct options *o, const char *program,
                  struct preload_facts *facts);

#endif
