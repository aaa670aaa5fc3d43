// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever a socket answers, mprof ctl and the other commands that ask
// a running program do not read or write outside of their buffers, end, and
// take at most as many bytes as were sent.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir new seeds
// RUN: head='HTTP/1.1 200 OK\r\nServer: MProf/0.1.0\r\nContent-Length: ' && \
// RUN:   printf "${head}5\r\n\r\nbytes" > seeds/whole && \
// RUN:   printf "${head}50\r\n\r\nbytes" > seeds/cut && \
// RUN:   printf "${head}-1\r\n\r\nbytes" > seeds/negative && \
// RUN:   printf "HTTP/1.1 404 no\r\nServer: other\r\n\r\n" > seeds/other
// RUN: printf '"%%s"\n' 'HTTP/1.1 ' 'Server: MProf/' 'Content-Length: ' '\x0d\x0a' \
// RUN:   > words
// RUN: T=%src/tools/mprof && %clang -std=gnu11 -D_GNU_SOURCE -g -O1 \
// RUN:   %fuzzer \
// RUN:   -I$T -I%src/tools -I%src/rt %s %tools_fuzzed -lelf -o fuzz
// RUN: %S/Inputs/run.sh -runs=4000 -max_len=3000 -dict=words new

#include "live/live_client.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int ends[2];
  // The buffers of the socket have room for the whole input.
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
      write(ends[1], data, size) != (ssize_t)size ||
      shutdown(ends[1], SHUT_WR) != 0)
    abort();
  char *body;
  size_t length;
  FILE *out = open_memstream(&body, &length);
  struct live_reply reply = {.out = out, .most = HTTP_MEMORY_MAX};
  const int status = live_ask(ends[0], "GET", "/", &reply, NULL);
  fclose(out);
  close(ends[1]);
  if (memchr(reply.text, '\0', sizeof reply.text) == NULL || length > size ||
      (status && length && !memmem(data, size, body, length)))
    abort();
  free(body);
  return 0;
}
