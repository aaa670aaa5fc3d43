// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "common/helper_fork.h"

#include "common/memory.h"
#include "helper/helper_environment.h"

#include <stdlib.h>
#include <unistd.h>

// If the tool itself is profiled, the runtime reads the environment in the
// child before fork returns there. So the parent changes the environment, and
// restores it.
pid_t helper_fork(void) {
  char **const own = environ;
  void *memory = zeroed(mprof_helper_environment_size(own), 1);
  char **const clean = mprof_helper_environment(own, memory);
  environ = clean;
  const pid_t pid = fork();
  if (pid != 0) {
    environ = own;
    free(clean);
  }
  return pid;
}
