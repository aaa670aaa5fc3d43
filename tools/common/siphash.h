// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SipHash-1-3 with a random key. The tables of the tools use it, because files
// may be hostile: nobody can choose elements that fall into one slot.

#ifndef MPROF_TOOLS_SIPHASH_H
#define MPROF_TOOLS_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

// Returns the hash of the number and of `length` bytes.
uint64_t siphash(uint64_t number, const void *bytes, size_t length);

#endif
