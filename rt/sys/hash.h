// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hash function for strings: FNV-1a with 64 bits. A string can be hashed in
// several pieces.

#ifndef MPROF_RT_SYS_HASH_H
#define MPROF_RT_SYS_HASH_H

#include <stddef.h>
#include <stdint.h>

// The hash of the empty string.
#define MPROF_HASH_EMPTY UINT64_C(0xcbf29ce484222325)
// Returns the hash of a string that consists of some earlier characters and the
// len bytes at s. h: the hash of the earlier characters.
static inline uint64_t mprof_hash(uint64_t h, const char *s, size_t len) {
  for (size_t i = 0; i < len; i++)
    h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
  return h;
}

#endif // MPROF_RT_SYS_HASH_H
