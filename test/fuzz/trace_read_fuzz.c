// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever bytes a trace has, the trace tools do not read outside of
// the file, leak memory or run for ever. The test also looks up the strings and
// stacks that the events refer to.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir seeds
// RUN: %python -B %S/Inputs/trace_seeds.py seeds
// RUN: printf '"go 1.%%s trace\\x00\\x00\\x00"\n' 22 23 25 26 > words
// RUN: build() { %clang -std=gnu11 -D_GNU_SOURCE -g -O1 \
// RUN:   %fuzzer "$@" \
// RUN:   -I%src/tools/trace -I%src/tools -I%src/rt %s %tools_fuzzed -o fuzz; }
// RUN: fuzz() { rm -rf new && mkdir new && \
// RUN:   %S/Inputs/run.sh -runs=6000 -max_len=4096 -dict=words new; }
// RUN: build -DJSON && fuzz
// RUN: build && fuzz

#include "convert.h"
#include "event.h"
#include "event_types.h"
#include "open.h"
#include "read.h"
#include "table.h"
#include "timeline_json.h"
#include "trace.h"
#include "waits.h"

#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *sink;
static unsigned long sum; // keeps the reads below from being optimized out

static void add_text(struct trace_text text) {
  for (size_t i = 0; i < text.length; i++)
    sum += (unsigned char)text.bytes[i];
}

static void read_event(void *context, const struct trace_event *event) {
  const struct trace *trace = context;
  const struct trace_frame *frames;
  size_t count = trace_stack(trace, event->stack, &frames);
  for (size_t i = 0; i < count; i++)
    add_text(trace_string(trace, frames[i].function));
  for (unsigned i = 0; i < event->arg_count; i++)
    add_text(trace_string(trace, event->args[i]));
  sum += (unsigned char)*event_type_name(event->type);
}

static void read_violation(void *context, enum trace_rule rule, uint64_t offset,
                           const char *text) {
  (void)context;
  sum += offset + (unsigned char)*text + (unsigned char)*trace_rule_name(rule);
}

static void convert_trace(struct trace *trace) {
#ifdef JSON
  for (int as_text = 0; as_text < 2; as_text++) {
    const struct timeline_options options = {.name = "fuzz",
                                             .frames = 16,
                                             .stacks_as_text = as_text,
                                             .window = trace_window_all};
    struct timeline *line = timeline_begin(sink, trace, &options);
    convert("fuzz", trace, line);
    timeline_end(line);
  }
#else
  struct timeline *line = waits_begin(trace, NULL, 3, trace_window_all);
  convert("fuzz", trace, line);
  struct waits waits = waits_end(line);
  for (size_t i = 0; i < waits.longest_count; i++)
    add_text(waits_thread_name(line, waits.longest[i].g));
  for (size_t i = 0; i < waits.end_count; i++)
    add_text(waits.ends[i].example.woken_at.function);
  waits_free(line);
#endif
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  sink = fopen("/dev/null", "we");
  if (!sink)
    return 1;
  // convert() prints violations. libFuzzer has its own copy of stderr.
  stderr = sink;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char error[256];
  struct trace *trace = trace_open_bytes(data, size, error, sizeof error);
  if (!trace)
    return 0;
  const struct trace_visitor visitor = {read_event, read_violation, trace};
  uint64_t violations = trace_read(trace, &visitor);
  // A second pass finds the same.
  if (trace_read(trace, &visitor) != violations)
    abort();
  convert_trace(trace);
  trace_close(trace);
  return 0;
}
