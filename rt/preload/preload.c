// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The start of libmprof_preload.so, the runtime for programs that were built
// without MProf. The dynamic linker loads the library before the program's
// libraries, because LD_PRELOAD names it. Its definitions of malloc
// (entry/intercept_heap.c), pthread_mutex_lock and others (calls.c) replace
// those of libc.
//
// If the program itself was built with MProf, the program has the runtime, and
// this copy only passes calls on (init.c, is_first_copy).

#include "entry/entry_thread.h"
#include "helper/helper_environment.h"
#include "options/flags.h"
#include "preload/calls.h"
#include "preload/operators.h"
#include "preload/withdraw.h"
#include "process/process.h"

#include <string.h>
#include <unistd.h>

// Removes the library from LD_PRELOAD, and also the variable if it was the only
// library. Changes the list and the array of variables in place, because the
// memory of the environment is part of the program's stack, and because main
// may get the array as an argument.
static void leave_children_alone(void) {
  static const char name[] = "LD_PRELOAD=";
  char **to = environ;
  for (char **e = environ; e && *e; e++) {
    if (strncmp(*e, name, sizeof(name) - 1) == 0 &&
        !mprof_preload_list_clean(*e + sizeof(name) - 1))
      continue;
    *to++ = *e;
  }
  if (to)
    *to = NULL;
}

// Returns whether children are profiled, too. The runtime's own constructor
// comes before at_load in the library, so the options are known. But the
// library's copy of the runtime has read none if the program has a runtime of
// its own. It reads them then without messages, because it has prepared none.
static bool follows_children(void) {
  if (mprof_init_is_inert())
    mprof_flags_init();
  return mprof_flags.follow_fork;
}

__attribute__((constructor(101))) static void at_load(void) {
  mprof_preload_calls_init();
  mprof_preload_operators_init();
  mprof_preload_withdraw();
  mprof_entry_thread_sees_library();
  if (!follows_children())
    leave_children_alone();
}
