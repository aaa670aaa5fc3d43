// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/ending.h"

#include "common/clock.h"

#include <signal.h>

static int64_t since; // 0: no signal has arrived

void ending_begin(void) {
  if (since == 0)
    since = clock_now_ms();
}

int64_t ending_since_ms(void) {
  sigset_t pending;
  sigemptyset(&pending);
  if (since == 0 && sigpending(&pending) == 0 &&
      (sigismember(&pending, SIGTERM) == 1 ||
       sigismember(&pending, SIGINT) == 1))
    ending_begin();
  return since != 0 ? since : INT64_MAX;
}

int64_t ending_read_ms(void) {
  const int64_t ms = ending_since_ms();
  return ms == INT64_MAX ? ms : ms + ENDING_READ_MS;
}
