// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "text.h"

#include <string.h>

struct trace_text trace_text_of(const char *string) {
  return (struct trace_text){string, strlen(string)};
}

bool trace_text_is(struct trace_text text, const char *string) {
  return trace_text_equal(text, trace_text_of(string));
}

bool trace_text_equal(struct trace_text a, struct trace_text b) {
  return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}
