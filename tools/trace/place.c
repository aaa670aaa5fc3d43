// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "place.h"

#include "common/hash_bytes.h"
#include "event.h"
#include "short_name.h"
#include "table.h"

#include <string.h>

// Returns whether a file is one of the system, such as a header, or a source
// file of glibc in its debug information. Of glibc's directories, only those
// with unusual names are recognized.
static bool is_of_system(struct trace_text file) {
  static const char *const begins[] = {"/usr/",  "sysdeps/",
                                       "nptl/",  "stdio-common/",
                                       "libio/", "malloc/malloc.c"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
    const size_t length = strlen(begins[i]);
    if (file.length >= length && memcmp(file.bytes, begins[i], length) == 0)
      return true;
  }
  return !file.length;
}

struct place place_of(const struct trace *trace, uint64_t stack) {
  const struct trace_frame *frames;
  size_t count = trace_stack(trace, stack, &frames);
  if (!count)
    return (struct place){0};
  size_t own = 0;
  while (own < count && is_of_system(trace_string(trace, frames[own].file)))
    own++;
  const struct trace_frame *frame = &frames[own < count ? own : 0];
  return (struct place){short_name(trace_string(trace, frame->function)),
                        trace_string(trace, frame->file), frame->line,
                        frame->pc};
}

uint64_t place_key(const struct place *p) {
  uint64_t h = HASH_BEGIN;
  h = hash_bytes(h, p->function.bytes, p->function.length);
  h = hash_bytes(h, p->file.bytes, p->file.length);
  h = hash_bytes(h, &p->line, sizeof p->line);
  // In format 1.5, a frame has no texts, only an address. So hash the address.
  return p->function.length ? h : hash_bytes(h, &p->pc, sizeof p->pc);
}
