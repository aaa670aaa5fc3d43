// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes requests for Grafana Pyroscope: of its push API, and of its older page
// /ingest.

#ifndef MPROF_TOOL_PYROSCOPE_H
#define MPROF_TOOL_PYROSCOPE_H

#include "files/bytes.h"
#include "push/resource.h"

// Returns the message push.v1.PushRequest with a profile. kind: "heap",
// "block", "mutex" or another. zipped: the profile as a gzip file. The caller
// frees the member `at`.
struct bytes pyroscope_request(const char *kind, const struct resource *r,
                               const struct bytes *zipped);
// Returns the address with the parameters for a profile. base: the address of
// the page. The caller frees it.
char *pyroscope_ingest_url(const char *base, const struct profile *p,
                           const struct resource *r);

#endif
