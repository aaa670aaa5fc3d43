// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits until the thread of the option memory has looked at the memory.

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Returns how often the thread that looks at the memory has slept.
static long looks(void) {
  DIR *d = opendir("/proc/self/task");
  long n = 0;
  for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
    char path[300], line[256], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
      sscanf(line, "Name: %31s", name);
      if (strcmp(name, "mprof-snapshots") == 0)
        sscanf(line, "voluntary_ctxt_switches: %ld", &n);
    }
    if (f)
      fclose(f);
  }
  if (d)
    closedir(d);
  return n;
}

// It also sleeps where it waits for others, so one look may be several sleeps.
static void wait_for_looks(void) {
  const long before = looks();
  for (int i = 0; i < 6000 && looks() < before + 40; i++)
    usleep(10000);
}
