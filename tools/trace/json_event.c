// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "json_event.h"

#include "event.h"
#include "json.h"
#include "table.h"

#include <inttypes.h>

void json_head(FILE *out, char phase, uint64_t g, uint64_t ns) {
  fprintf(out, ",\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%" PRIu64, phase,
          JSON_PROCESS, g);
  json_time(out, "ts", ns);
}

void json_meta(FILE *out, uint64_t g, const char *name) {
  fprintf(out,
          ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu64
          ",\"name\":\"%s\",\"args\":{",
          JSON_PROCESS, g, name);
}

void json_time(FILE *out, const char *key, uint64_t ns) {
  fprintf(out, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

void json_text(FILE *out, const char *key, struct trace_text text) {
  fprintf(out, "\"%s\":\"", key);
  json_escape(out, text);
  fputc('"', out);
}

struct json_details json_begin_details(FILE *out) {
  fputs(",\"args\":{", out);
  return (struct json_details){out, false};
}

void json_key(struct json_details *d, const char *key) {
  fprintf(d->out, "%s\"%s\":", d->begun ? "," : "", key);
  d->begun = true;
}

void json_rendered(struct json_details *d, const char *key,
                   const char *rendered) {
  if (!rendered)
    return;
  json_key(d, key);
  fprintf(d->out, "\"%s\"", rendered);
}

void json_detail(struct json_details *d, const char *key,
                 struct trace_text text) {
  if (!text.length)
    return;
  json_key(d, key);
  fputc('"', d->out);
  json_escape(d->out, text);
  fputc('"', d->out);
}

static void put_frame(FILE *out, const struct trace *trace,
                      const struct trace_frame *frame) {
  struct trace_text function = trace_string(trace, frame->function);
  struct trace_text file = trace_string(trace, frame->file);
  if (function.length)
    json_escape(out, function);
  else
    fprintf(out, "0x%" PRIx64, frame->pc);
  if (file.length) {
    fputc(' ', out);
    json_escape(out, file);
    fprintf(out, ":%" PRIu64, frame->line);
  }
}

char *json_stack(const struct trace *trace, uint64_t stack,
                 unsigned max_frames) {
  const struct trace_frame *frames;
  size_t count = trace_stack(trace, stack, &frames);
  size_t shown = count < max_frames ? count : max_frames;
  if (!shown)
    return NULL;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return NULL;
  for (size_t i = 0; i < shown; i++) {
    if (i)
      fputs("\\n", out);
    put_frame(out, trace, &frames[i]);
  }
  if (shown < count)
    fprintf(out, "\\n%zu more", count - shown);
  fclose(out);
  return text;
}
