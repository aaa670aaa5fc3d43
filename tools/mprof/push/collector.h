// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the request for one profile in the form that the collector wants.

#ifndef MPROF_TOOL_COLLECTOR_H
#define MPROF_TOOL_COLLECTOR_H

#include "push/outbox.h"
#include "push/resource.h"

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

#endif
