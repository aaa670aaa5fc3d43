// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the numbers of a trace, which are unsigned LEB128 of at most 64 bits.

#ifndef MPROF_TRACE_NUMBER_H
#define MPROF_TRACE_NUMBER_H

#include <stdint.h>

enum { NUMBER_TRUNCATED = 1, NUMBER_TOO_LONG };
// Reads the number at *at into *value and moves *at to the end of the number.
// Returns 0, NUMBER_TRUNCATED or NUMBER_TOO_LONG.
int read_number(const uint8_t **at, const uint8_t *end, uint64_t *value);

#endif
