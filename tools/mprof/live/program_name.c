// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/program_name.h"

#include "common/printable.h"
#include "live/live_client.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const char *program_suffix(const struct bytes *b) {
  return b->length > 1 && b->at[0] == 0x1f && b->at[1] == 0x8b ? ".pb.gz"
                                                               : ".txt";
}

// Appends to a file name the name of the program and a dot. Appends nothing if
// the program cannot tell its name, for example because it has no /proc.
static void put_program(char *name, size_t size, int fd) {
  char *text = NULL;
  size_t length = 0;
  FILE *reply = open_memstream(&text, &length);
  if (!reply) {
    close(fd);
    return;
  }
  struct live_reply program = {.out = reply, .most = HTTP_MEMORY_MAX};
  const int status =
      live_ask(fd, "GET", "/debug/pprof/cmdline", &program, NULL);
  fclose(reply); // ends the text with a null byte
  if (status == 200 && text[0] != '\0') {
    const size_t before = strlen(name);
    snprintf(name + before, size - before, "%.100s.", basename(text));
    for (char *p = name + before; *p != '\0';) {
      const size_t n = *p == ' ' ? 0 : printable_length(p);
      if (n == 0)
        *p = '_';
      p += n == 0 ? 1 : n;
    }
  }
  free(text);
}

int program_name(const char *target, char *name, size_t size) {
  char why[512];
  struct ucred peer = {0};
  socklen_t length = sizeof peer;
  name[0] = '\0';
  const int fd = live_connect(target, why, sizeof why);
  if (fd < 0)
    return 0;
  const bool has_peer =
      getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
  put_program(name, size, fd);
  const size_t before = strlen(name);
  const int pid = target[strspn(target, "0123456789")] == '\0' ? atoi(target)
                  : has_peer                                   ? (int)peer.pid
                                                               : 0;
  if (pid > 0)
    snprintf(name + before, size - before, "%d.", pid);
  return pid;
}
