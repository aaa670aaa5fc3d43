// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sends data by HTTP, with libcurl. The library is loaded when it is needed, so
// that the other commands start fast and do not need it.

#ifndef MPROF_TOOL_HTTP_POST_H
#define MPROF_TOOL_HTTP_POST_H

#include "files/bytes.h"

struct http_post {
  const char *url, *content_type;
  const char *content_encoding; // NULL: none
  const char *auth_file; // file with lines "NAME: VALUE" for headers, or NULL
  const char *ca_file;   // certificates of authorities, or NULL
  const struct bytes *body;
  // Called about once a second while the request waits. Returns the time since
  // which the sender wants to end, see ending_since_ms. NULL: never.
  int64_t (*ends_since)(void);
};

struct http_reply {
  int status;         // 0: there is no reply; see why
  long retry_after_s; // header Retry-After; 0: none
  char why[256];      // the first line of an error
  struct bytes body;  // at most 64 KiB of the reply; the caller frees `at`
};

// Loads libcurl. Returns NULL or a message.
const char *http_post_load(void);
// Sends the request, and waits at most 15 seconds for the reply.
void http_post(const struct http_post *post, struct http_reply *reply);

#endif
