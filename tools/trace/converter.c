// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "converter.h"

#include "event.h"
#include "timeline.h"

void convert_log(struct converter *c, const struct trace_event *ev,
                 struct trace_text key, struct trace_text text) {
  if (ev->g && text.length && trace_text_is(key, "thread.name"))
    timeline_name(c->line, ev->g, text);
  else
    timeline_instant(c->line, ev->g, "log", key, text, ev->stack, ev->ticks);
}
