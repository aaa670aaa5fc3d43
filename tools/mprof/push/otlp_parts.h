// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a request that are equal in all versions of OTLP.

#ifndef MPROF_TOOL_OTLP_PARTS_H
#define MPROF_TOOL_OTLP_PARTS_H

#include "files/put_wire.h"
#include "model/profile.h"
#include "push/resource.h"

// Write the value of an attribute (AnyValue) as a field.
void otlp_put_text(struct put *out, unsigned field, const char *text);
void otlp_put_number(struct put *out, unsigned field, int64_t number);
// Write the fields with the resource and the scope of profiles.
void otlp_put_resource(struct put *out, const struct resource *r);
void otlp_put_scope(struct put *out);
// The key of the attribute of a mapping with its build id.
#define OTLP_BUILD_ID "process.executable.build_id.gnu"

#endif
