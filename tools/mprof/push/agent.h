// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the profiles of running programs again and again, and sends them to a
// collector.

#ifndef MPROF_TOOL_AGENT_H
#define MPROF_TOOL_AGENT_H

#include "push/outbox.h"
#include "push/resource.h"

// --- the request for one profile, in the form that the collector wants ---

enum collector_form { COLLECTOR_OTLP, COLLECTOR_PYROSCOPE, COLLECTOR_INGEST };

struct collector {
  enum collector_form form;
  char *url;                 // of the collector's page
  struct text_list resource; // words KEY=VALUE of the user
  struct outbox box;
};

// Sets form and url from the address that the user gave. is_otlp: an address of
// an OTLP receiver, else of Pyroscope. Returns NULL or a message.
const char *collector_set_address(struct collector *m, const char *address,
                                  bool is_otlp);
// Adds a request for the profile p to the outbox. kind: "heap", "block",
// "mutex" or another name. zipped: p as a gzip file. pid: of the profiled
// process; 0: unknown. A profile without samples is not sent.
void collector_add_profile(struct collector *m, struct profile *p,
                           const char *kind, const struct bytes *zipped,
                           long pid);

// Sends what waits in the outbox, until nothing waits or the time has come.
void collector_send_until(struct collector *m, int64_t end_ms);

// --- the agent ---

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

#endif // MPROF_TOOL_AGENT_H
