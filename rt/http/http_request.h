// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the head of an HTTP/1.1 request: the request line and the headers. The
// parser works on bytes in memory and makes no system call, so that a fuzzer
// can test it.

#ifndef MPROF_RT_HTTP_HTTP_REQUEST_H
#define MPROF_RT_HTTP_HTTP_REQUEST_H

#include "sys/base.h"

enum {
  MPROF_HTTP_HEAD_MAX = 8192, // maximum length of the head in bytes
  MPROF_HTTP_OK = 200,
};

// A method that no page accepts is MPROF_HTTP_OTHER.
enum mprof_http_method {
  MPROF_HTTP_OTHER,
  MPROF_HTTP_GET,
  MPROF_HTTP_HEAD,
  MPROF_HTTP_POST
};

// A part of the head. p is NULL if the request lacks this part.
struct mprof_http_text {
  const char *p;
  size_t len;
};

// is_foreign: a browser says that a page of another web site has caused the
// request. Each browser sends the header Sec-Fetch-Site to a loopback address,
// and sends Origin with a request of a script. No page of MProf has scripts.
struct mprof_http_request {
  enum mprof_http_method method;
  // The path, with each %XX decoded and a terminating 0. It has no other 0 and
  // no control character.
  const char *path;
  struct mprof_http_text query; // behind the '?', not decoded
  struct mprof_http_text host;  // value of the header Host
  bool is_foreign;              // see below
  bool is_http_1_0;             // version 1.0; otherwise 1.1
  bool keeps_connection;        // the client may send further requests
  bool expects_continue;        // the client waits for "100 Continue"
  size_t head_len;              // bytes of the head, with its final empty line
  uint64_t body_len;            // bytes of the body, which follows the head
};

// Parses the request at the start of the len bytes at `data`. Decodes the path
// in place, so each request must be parsed successfully only once. All pointers
// in *r point into `data`.
// Returns 0 if the end of the head has not arrived yet, MPROF_HTTP_OK, or the
// HTTP status code of an error: 400, 431, 501 or 505. After an error, the end
// of the request is unknown.
int mprof_http_parse(char *data, size_t len, struct mprof_http_request *r);

enum mprof_parameter {
  MPROF_PARAMETER_ABSENT = 0,
  MPROF_PARAMETER_GOOD,
  MPROF_PARAMETER_MALFORMED,
  MPROF_PARAMETER_LONG
};

// Stores in `value` the decoded value of the parameter `name` of a query, as
// text with a terminating 0. If the value is malformed, has a null byte or does
// not fit into the cap bytes (at least 2) of `value`, stores "?" instead. If
// the query has several such parameters, takes the first one.
enum mprof_parameter mprof_http_parameter(struct mprof_http_text query,
                                          const char *name, char *value,
                                          size_t cap);

// Returns whether the value of the header Host is localhost or an IP address,
// with or without a port. An IPv6 address is in brackets. 0.0.0.0, [::] and
// IPv4 addresses in the form of IPv6 do not count: they also lead to this
// machine, but browsers do not send them the header Sec-Fetch-Site. Returns
// true without a header or with an empty one.
bool mprof_http_is_address(struct mprof_http_text host);

// Returns the text of an HTTP status code, or "" if no reply of MProf has it.
const char *mprof_http_status_text(int status);

#endif // MPROF_RT_HTTP_HTTP_REQUEST_H
