// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens a trace: a file, or bytes in memory.

#ifndef MPROF_TRACE_OPEN_H
#define MPROF_TRACE_OPEN_H

#include <stddef.h>

struct trace;

// Opens the file at path, or standard input for "-". On failure, returns NULL
// and writes a message of one line, without the path, into error.
struct trace *trace_open(const char *path, char *error, size_t size);
// Opens a trace whose bytes are in memory. The caller owns the bytes and must
// not change or free them before trace_close. On failure, returns NULL and
// writes a message of one line into error.
struct trace *trace_open_bytes(const void *bytes, size_t count, char *error,
                               size_t size);
void trace_close(struct trace *trace);

#endif
