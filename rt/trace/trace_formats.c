// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of file formats of the trace, and the choice by the option
// trace_format. See trace_formats.h.

#include "trace/trace_formats.h"

#include "options/flags.h"
#include "sys/message.h"
#include "sys/text.h"
#include "trace/trace_format.h"
#include "trace/write_trace_v1_23.h"
#include "trace/write_trace_v1_5.h"

#include <string.h>

static const struct mprof_trace_format *const formats[] = {
    &mprof_trace_format_1_23, &mprof_trace_format_1_5};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static const struct mprof_trace_format *wanted_format(void) {
  for (size_t i = 0; i < FORMATS; i++)
    if (strcmp(mprof_flags.trace_format, formats[i]->name) == 0)
      return formats[i];
  return NULL;
}

void mprof_trace_format_check(void) {
  char line[256 + sizeof(mprof_flags.trace_format)];
  struct mprof_text t = MPROF_TEXT(line);
  if (wanted_format())
    return;
  mprof_text_str(&t, "value '");
  mprof_text_str(&t, mprof_flags.trace_format);
  mprof_text_str(&t, "' of option 'trace_format' is not");
  for (size_t i = 0; i < FORMATS; i++) {
    mprof_text_str(&t, i == 0 ? " " : " or ");
    mprof_text_str(&t, formats[i]->name);
  }
  mprof_text_str(&t, "; using ");
  mprof_text_str(&t, formats[0]->name);
  mprof_message(line);
}

const struct mprof_trace_format *mprof_trace_format_chosen(void) {
  const struct mprof_trace_format *f = wanted_format();
  return f ? f : formats[0];
}

bool mprof_trace_format_streams(void) {
  return mprof_trace_format_chosen()->streams;
}
