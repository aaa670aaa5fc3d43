// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the numbers of a trace, which are unsigned LEB128 of at most 64 bits.

#ifndef MPROF_TRACE_NUMBER_H
#define MPROF_TRACE_NUMBER_H

#include <stdint.h>

enum { NUMBER_TRUNCATED = 1, NUMBER_TOO_LONG };
// Reads a number at *at and moves *at past it. Returns 0 or one of the errors
// above.
int read_number(const uint8_t **at, const uint8_t *end, uint64_t *value);

#endif
