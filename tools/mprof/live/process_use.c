// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/process_use.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool process_use_read(int pid, struct process_use *use) {
  enum { SECOND = 1000000000 };
  char path[64], line[1024];
  char state;
  uint64_t user, kernel;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *f = fopen(path, "r");
  const bool is_read = f && fgets(line, sizeof line, f);
  if (f)
    fclose(f);
  // The name of the program, in brackets, may contain blanks and brackets.
  const char *rest = is_read ? strrchr(line, ')') : NULL;
  if (!rest ||
      sscanf(rest + 1,
             " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
             " %*d %*d %*d %*d %" SCNd64 " %*d %*u %*u %" SCNd64,
             &state, &user, &kernel, &use->threads, &use->rss) != 5)
    return false;
  use->rss *= sysconf(_SC_PAGESIZE);
  use->cpu_ns = (int64_t)(user + kernel) * (SECOND / sysconf(_SC_CLK_TCK));
  return state != 'Z' && state != 'X';
}
