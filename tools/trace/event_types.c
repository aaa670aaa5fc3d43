// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "event_types.h"

#include <stdint.h>

static const struct {
  const char *name;
  int args;
  uint8_t stack, strings, since;
} types[EV_COUNT] = {
#define TRACE_EVENT_TYPE(number, name, args, stack, strings, since)            \
  [number] = {#name, args, stack, strings, since},
#include "event_types.def"
#undef TRACE_EVENT_TYPE
};

const char *event_type_name(unsigned type) {
  return type < EV_COUNT && types[type].name ? types[type].name : "Unknown";
}

bool event_type_is_timed(unsigned type, unsigned minor) {
  return type < EV_COUNT && types[type].name && types[type].since <= minor &&
         types[type].args >= 0;
}

unsigned event_type_arg_count(unsigned type) {
  return (unsigned)types[type].args;
}

unsigned event_type_stack_arg(unsigned type) { return types[type].stack; }

bool event_type_is_string_arg(unsigned type, unsigned number) {
  return types[type].strings >> number & 1;
}
