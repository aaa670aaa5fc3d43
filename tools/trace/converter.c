// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "converter.h"

#include "event.h"
#include "timeline.h"

// Parses the decimal number in the text. Returns false if the text is not a
// decimal number or has more than 19 digits.
static bool number_of(struct trace_text text, uint64_t *number) {
  enum { DIGITS_MAX = 19 };
  *number = 0;
  for (size_t i = 0; i < text.length; i++) {
    if (text.bytes[i] < '0' || text.bytes[i] > '9')
      return false;
    *number = *number * 10 + (uint64_t)(text.bytes[i] - '0');
  }
  return text.length && text.length <= DIGITS_MAX;
}

void convert_log(struct converter *c, const struct trace_event *ev,
                 struct trace_text key, struct trace_text text) {
  uint64_t ns;
  if (ev->g && text.length && trace_text_is(key, "thread.name"))
    timeline_name(c->line, ev->g, text);
  else if (ev->g && trace_text_is(key, "lock.waited_ns") &&
           number_of(text, &ns))
    timeline_charge(c->line, ev->g, ns, ev->stack);
  else
    timeline_instant(c->line, ev->g, "log", key, text, ev->stack, ev->ticks);
}
