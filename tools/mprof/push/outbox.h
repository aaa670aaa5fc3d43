// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests that wait until the collector accepts them. A collector may be down
// for hours: the requests are kept up to a limit, then the oldest are dropped
// and counted. There is one message when the collector stops to accept data,
// and one when it accepts data again.

#ifndef MPROF_TOOL_OUTBOX_H
#define MPROF_TOOL_OUTBOX_H

#include "push/http_post.h"

#include <stdbool.h>
#include <stddef.h>

struct letter {
  struct letter *next;
  char *url;                // owned
  const char *content_type; // constant
  bool is_zipped;           // the body has the encoding gzip
  struct bytes body;        // owned
};

struct outbox {
  const char *auth_file, *ca_file; // see http_post.h
  size_t limit;                    // bytes of all bodies
  // Whether a letter that the collector refuses for lack of rights is kept,
  // because the token in auth_file may be renewed.
  bool awaits_rights;
  int64_t (*ends_since)(void); // see http_post.h
  // Advice for the case that the collector refuses a request as wrong (400), or
  // NULL.
  const char *hint;
  // Called with each message, a line without its end.
  void (*say)(const char *line);

  struct letter *first, *last;
  size_t bytes, waiting; // waiting: number of letters
  int64_t next_try_ms;   // no letter is sent before this time
  bool is_down;          // the last letter could not be sent
  int64_t down_since_ms;
  int64_t pause_ms; // before the next try
  unsigned long sent, dropped, refused;
};

// Adds a copy of *letter, and drops the oldest letters if there are too many
// bytes. Takes what letter owns.
void outbox_put(struct outbox *o, const struct letter *letter);
// Sends letters until none is left or one cannot be sent. now_ms: the time of
// any clock that only moves forward. Does nothing before o->next_try_ms.
void outbox_send(struct outbox *o, int64_t now_ms);
void outbox_free(struct outbox *o);

#endif
