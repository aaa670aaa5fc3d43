// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "v1_types.h"

#include <stdint.h>

static const struct {
  const char *name;
  uint8_t args;
  bool stack;
  uint8_t since;
} types[V1_COUNT] = {
#define TRACE_V1(number, name, args, stack, since)                             \
  [number] = {#name, args, stack, since},
#include "v1.def"
#undef TRACE_V1
};

const char *v1_name(unsigned type) {
  return type < V1_COUNT && types[type].name ? types[type].name : "Unknown";
}

bool v1_is_known(unsigned type, unsigned minor) {
  return type < V1_COUNT && types[type].name && types[type].since <= minor;
}

bool v1_has_stack(unsigned type) { return types[type].stack; }

unsigned v1_number_count(unsigned type, unsigned minor) {
  // Whether this is format 1.5, whose records also have a sequence number
  // difference.
  bool v5 = minor < 7;
  unsigned count = types[type].args + types[type].stack;
  switch (type) {
  case V1_Batch:
  case V1_Frequency:
  case V1_TimerGoroutine:
    return count + v5;
  case V1_Stack:
    return 1;
  case V1_GCSweepDone:
    if (minor < 9)
      count -= 2;
    break;
  case V1_GCStart:
  case V1_GoStart:
  case V1_GoUnblock:
    if (v5)
      count--;
    break;
  case V1_STWStart:
    if (minor < 10)
      count--;
    break;
  default:
    break;
  }
  return count + 1 + v5;
}
