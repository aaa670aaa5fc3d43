// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/otlp_parts.h"

#include "files/wire.h"
#include "push/otlp_fields.h"

void otlp_put_text(struct put *out, unsigned field, const char *text) {
  const size_t start = begin_message(out, field);
  put_text(out, OTLP_ANY_STRING, text);
  end_message(out, start);
}

void otlp_put_number(struct put *out, unsigned field, int64_t number) {
  const size_t start = begin_message(out, field);
  // The number is a member of a oneof, so 0 is written, too.
  put_varint(out, OTLP_ANY_INT << 3 | WIRE_VARINT);
  put_varint(out, (uint64_t)number);
  end_message(out, start);
}

void otlp_put_resource(struct put *out, const struct resource *r) {
  const size_t start = begin_message(out, RESOURCE_PROFILES_RESOURCE);
  for (size_t i = 0; i < r->count; i++) {
    const size_t message = begin_message(out, RESOURCE_ATTRIBUTES);
    put_text(out, OTLP_ATTRIBUTE_KEY, r->attributes[i].key);
    otlp_put_text(out, OTLP_ATTRIBUTE_VALUE, r->attributes[i].value);
    end_message(out, message);
  }
  end_message(out, start);
}

void otlp_put_scope(struct put *out) {
  const size_t start = begin_message(out, SCOPE_PROFILES_SCOPE);
  put_text(out, SCOPE_NAME, "mprof");
  put_text(out, SCOPE_VERSION, MPROF_VERSION);
  end_message(out, start);
}
