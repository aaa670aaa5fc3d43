// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of the agent. SIGTERM or SIGINT, which the agent blocks, end it. It
// then reads all programs once more and sends what waits, but gives up requests
// that hang.

#ifndef MPROF_TOOL_ENDING_H
#define MPROF_TOOL_ENDING_H

#include <stdint.h>

enum {
  ENDING_READ_MS = 20000, // for reading all programs
  ENDING_SEND_MS =
      5000, // for a request to the collector, and for all that wait
};

// Records that the agent has received a signal.
void ending_begin(void);
// Returns the time of clock_now_ms at which a signal has arrived, or INT64_MAX.
int64_t ending_since_ms(void);
// Returns the time at which programs are no longer read, or INT64_MAX.
int64_t ending_read_ms(void);

#endif
