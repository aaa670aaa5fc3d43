// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a request of the older version of OTLP profiles, which the Collector
// has from 0.117 to 0.127 (pdata 1.23 to 1.33). It has the same page and the
// same name, v1development, as today's version (otlp.h), but other messages.

#ifndef MPROF_TOOL_OTLP_117_H
#define MPROF_TOOL_OTLP_117_H

#include "files/bytes.h"
#include "push/resource.h"

// Returns the message ExportProfilesServiceRequest with one profile, which has
// all types of values and its own tables. Adds strings to p. The caller frees
// the member `at`.
struct bytes otlp_117_request(struct profile *p,
                              const struct resource *resource);

#endif
