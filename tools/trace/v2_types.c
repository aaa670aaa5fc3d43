// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "v2_types.h"

#include <stdint.h>

static const struct {
  const char *name;
  int args;
  uint8_t stack, strings, since;
} types[V2_COUNT] = {
#define TRACE_V2(number, name, args, stack, strings, since)                    \
  [number] = {#name, args, stack, strings, since},
#include "v2.def"
#undef TRACE_V2
};

const char *v2_name(unsigned type) {
  return type < V2_COUNT && types[type].name ? types[type].name : "Unknown";
}

bool v2_is_timed(unsigned type, unsigned minor) {
  return type < V2_COUNT && types[type].name && types[type].since <= minor &&
         types[type].args >= 0;
}

unsigned v2_arg_count(unsigned type) { return (unsigned)types[type].args; }

unsigned v2_stack_arg(unsigned type) { return types[type].stack; }

bool v2_is_string_arg(unsigned type, unsigned number) {
  return types[type].strings >> number & 1;
}
