// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a request of OpenTelemetry's protocol (OTLP) that exports a profile, in
// its version v1development of pdata 0.165.

#ifndef MPROF_TOOL_OTLP_H
#define MPROF_TOOL_OTLP_H

#include "files/bytes.h"
#include "push/resource.h"

// Returns the message ExportProfilesServiceRequest. OTLP has one value in each
// sample, so the request has one profile for each type of values, of which all
// share the stacks. Samples whose value is 0 are left out. Adds strings to p.
// The caller frees the member `at`.
struct bytes otlp_request(struct profile *p, const struct resource *resource);

#endif
