// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The FNV-1a hash, which is the same in each run.

#ifndef MPROF_TOOLS_HASH_BYTES_H
#define MPROF_TOOLS_HASH_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

// Returns the hash of `length` bytes that follow data with the hash h. Begin
// with HASH_BEGIN.
static inline uint64_t hash_bytes(uint64_t h, const void *bytes,
                                  size_t length) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < length; i++)
    h = (h ^ at[i]) * UINT64_C(0x100000001b3);
  return h;
}

#endif
