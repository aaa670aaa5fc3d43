// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of a call that may wait but does not: poll of a pipe with data.
//
// usage: wait_call CALLS REPEATS

#include "bench.h"

#include <poll.h>
#include <unistd.h>

static int pipe_ends[2];

static void loop(int thread, long steps, long arg) {
  struct pollfd f = {pipe_ends[0], POLLIN, 0};
  (void)thread, (void)arg;
  for (long i = 0; i < steps; i++)
    if (poll(&f, 1, -1) != 1)
      exit(1);
}

int main(int argc, char **argv) {
  static struct bench b;
  b.loop = loop;
  b.threads = 1;
  b.steps = bench_arg(argc, argv, 1);
  b.repeats = (int)bench_arg(argc, argv, 2);
  if (pipe(pipe_ends) != 0 || write(pipe_ends[1], "", 1) != 1)
    return 1;
  bench_run(&b);
  return 0;
}
