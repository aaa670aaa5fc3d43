// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pages of the HTTP server: finds the page of a request and makes the
// reply. The paths, parameters, status codes and texts are those of Go's
// net/http/pprof.

#ifndef MPROF_RT_HTTP_PAGE_H
#define MPROF_RT_HTTP_PAGE_H

#include "http/http_request.h"
#include "http/live.h"
#include "http/reply.h"

// Makes the reply to a request, or begins to wait if the reply needs events of
// the future (j->kind is then not MPROF_JOB_NONE). In that case, the caller
// calls mprof_job_finish or mprof_job_abandon later.
// body: the len bytes of the request's body.
// is_loopback: the client used a TCP address that only this machine can reach.
void mprof_page(const struct mprof_http_request *q, const char *body,
                size_t len, bool is_loopback, struct mprof_reply *r,
                struct mprof_job *j);
// Returns whether the request may have a body, which the page reads.
bool mprof_page_reads_body(const struct mprof_http_request *q);

#endif // MPROF_RT_HTTP_PAGE_H
