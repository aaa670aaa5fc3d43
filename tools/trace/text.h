// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of a trace. The bytes of a text are part of the trace file or of a C
// string literal.

#ifndef MPROF_TRACE_TEXT_H
#define MPROF_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct trace_text {
  const char *bytes; // may lack a terminating 0 byte
  size_t length;
};

#define TEXT(literal) ((struct trace_text){literal, sizeof literal - 1})

static inline struct trace_text trace_text_of(const char *string) {
  return (struct trace_text){string, strlen(string)};
}

static inline bool trace_text_equal(struct trace_text a, struct trace_text b) {
  return a.length == b.length &&
         (!a.length || memcmp(a.bytes, b.bytes, a.length) == 0);
}

static inline bool trace_text_is(struct trace_text text, const char *string) {
  return trace_text_equal(text, trace_text_of(string));
}

#endif
