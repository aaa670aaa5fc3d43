// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the profiles of running programs again and again, and sends them to a
// collector.

#ifndef MPROF_TOOL_AGENT_H
#define MPROF_TOOL_AGENT_H

#include "push/collector.h"

struct agent {
  struct collector *collector;
  // HTTP servers: paths of Unix sockets, which may be patterns of glob(7), or
  // ADDRESS:PORT. Sockets that appear later are found, too.
  struct text_list servers;
  struct text_list profiles; // names of profiles
  int64_t every_ms;
  bool is_once;          // read the profiles once, send them, and return
  bool says_lacking;     // say that a program does not have a profile
  unsigned long answers; // number of times that a program gave profiles
};

// Runs until SIGTERM or SIGINT, which the caller must block. Then reads the
// profiles once more and sends what waits (ending.h).
void agent_run(struct agent *a);

#endif
