// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the numbers of DWARF in a range of bytes. The range may be corrupt: all
// reads stay inside of it, and at its end all numbers are 0.

#ifndef MPROF_RT_UNWIND_EH_CURSOR_H
#define MPROF_RT_UNWIND_EH_CURSOR_H

#include "sys/base.h"

#include <string.h>

// The bytes from `at` to `end` have not been read yet. Each function moves
// `at`.
struct mprof_cursor {
  const uint8_t *at, *end;
};

static inline uint64_t mprof_cursor_bytes(struct mprof_cursor *c, size_t n) {
  uint64_t v = 0;
  if ((size_t)(c->end - c->at) < n) {
    c->at = c->end;
    return 0;
  }
  memcpy(&v, c->at, n);
  c->at += n;
  return v;
}

static inline uint64_t mprof_cursor_uleb(struct mprof_cursor *c) {
  uint64_t v = 0;
  for (unsigned shift = 0; c->at < c->end; shift += 7) {
    uint8_t byte = *c->at++;
    if (shift < 64)
      v |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      break;
  }
  return v;
}

static inline int64_t mprof_cursor_sleb(struct mprof_cursor *c) {
  uint64_t v = 0;
  unsigned shift = 0;
  while (c->at < c->end) {
    uint8_t byte = *c->at++;
    if (shift < 64)
      v |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
    if (!(byte & 0x80)) {
      if ((byte & 0x40) && shift < 64)
        v |= ~UINT64_C(0) << shift;
      break;
    }
  }
  return (int64_t)v;
}

// Returns a cursor for the bytes of the DWARF block (a length and that many
// bytes) at c, and moves c behind the block.
static inline struct mprof_cursor mprof_cursor_block(struct mprof_cursor *c) {
  const uint64_t length = mprof_cursor_uleb(c);
  const struct mprof_cursor rest = *c;
  c->at += length < (uint64_t)(rest.end - rest.at)
               ? length
               : (uint64_t)(rest.end - rest.at);
  return (struct mprof_cursor){rest.at, c->at};
}

#endif // MPROF_RT_UNWIND_EH_CURSOR_H
