// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "number.h"

int read_number(const uint8_t **at, const uint8_t *end, uint64_t *value) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (*at == end)
      return NUMBER_TRUNCATED;
    uint8_t byte = *(*at)++;
    if (shift == 63 && byte > 1)
      return NUMBER_TOO_LONG;
    result |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) {
      *value = result;
      return 0;
    }
  }
  return NUMBER_TOO_LONG;
}
