// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/process_use.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool process_thread_name(const char *pid, const char *tid,
                         char name[PROCESS_THREAD_NAME]) {
  char path[80];
  snprintf(path, sizeof path, "/proc/%.20s/task/%.20s/comm", pid, tid);
  FILE *f = fopen(path, "r");
  const bool is_read = f && fgets(name, PROCESS_THREAD_NAME, f);
  if (f)
    fclose(f);
  return is_read;
}

// Returns the number of the threads of MProf's runtime, which no profile shows.
// Their names are "mprof" and "mprof-http", for example. The threads of a
// program with such a name have the name of its main thread.
static int64_t own_threads(int process) {
  char path[64], pid[24];
  char first[PROCESS_THREAD_NAME], name[PROCESS_THREAD_NAME];
  int64_t count = 0;
  snprintf(pid, sizeof pid, "%d", process);
  snprintf(path, sizeof path, "/proc/%s/task", pid);
  DIR *d = process_thread_name(pid, pid, first) ? opendir(path) : NULL;
  for (struct dirent *e; d && (e = readdir(d));)
    count += e->d_name[0] != '.' && process_thread_name(pid, e->d_name, name) &&
             strcmp(name, first) != 0 &&
             (strcmp(name, "mprof\n") == 0 || strncmp(name, "mprof-", 6) == 0);
  if (d)
    closedir(d);
  return count;
}

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
  const int64_t own = own_threads(pid);
  use->threads -= own < use->threads ? own : 0;
  use->rss *= sysconf(_SC_PAGESIZE);
  use->cpu_ns = (int64_t)(user + kernel) * (SECOND / sysconf(_SC_CLK_TCK));
  return state != 'Z' && state != 'X';
}
