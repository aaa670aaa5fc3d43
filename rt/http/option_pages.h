// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pages of the HTTP server that show and change the options of the running
// program: GET /debug/mprof/get and POST /debug/mprof/set.

#ifndef MPROF_RT_HTTP_OPTION_PAGES_H
#define MPROF_RT_HTTP_OPTION_PAGES_H

#include "http/http_request.h"
#include "http/reply.h"

// Replies with a line "NAME=VALUE" for each option, or for the option that the
// parameter `name` gives. Takes writer_lock.
void mprof_steer_get(struct mprof_http_text query, struct mprof_reply *r);
// Changes the option that the query NAME=VALUE gives, and replies with its
// line. Takes writer_lock.
void mprof_steer_set(struct mprof_http_text query, struct mprof_reply *r);

#endif // MPROF_RT_HTTP_OPTION_PAGES_H
