// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that allocates nothing. Prints its resident memory, as reported by
// the kernel.

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static char buf[8192];

// Prints the lines of a file that begin with a key.
static void print_lines(const char *path, const char *key) {
  int fd = open(path, O_RDONLY);
  ssize_t len = fd < 0 ? 0 : read(fd, buf, sizeof(buf) - 1);
  close(fd);
  buf[len > 0 ? len : 0] = 0;
  for (char *line = buf; *line;) {
    size_t n = strcspn(line, "\n") + 1;
    if (strncmp(line, key, strlen(key)) == 0 && write(1, line, n) < 0)
      return;
    line += line[n - 1] ? n : n - 1;
  }
}

int main(void) {
  print_lines("/proc/self/status", "VmHWM:");
  print_lines("/proc/self/status", "VmRSS:");
  print_lines("/proc/self/smaps_rollup", "Rss:");
  return 0;
}
