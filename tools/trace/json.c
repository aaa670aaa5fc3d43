// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "json.h"

#include "sys/message.h"

#include <inttypes.h>

void json_escape(FILE *out, struct trace_text text) {
  const unsigned char *bytes = (const unsigned char *)text.bytes;
  for (size_t i = 0; i < text.length;) {
    size_t n = mprof_utf8_length(bytes + i, text.length - i);
    if (!n) {
      fputs("\\ufffd", out);
      i++;
      continue;
    }
    if (bytes[i] == '"' || bytes[i] == '\\')
      fprintf(out, "\\%c", bytes[i]);
    else if (bytes[i] < ' ' || bytes[i] == 0x7f)
      fprintf(out, "\\u%04x", bytes[i]);
    else
      for (size_t k = 0; k < n; k++)
        putc(bytes[i + k], out);
    i += n;
  }
}

void json_head(FILE *out, char phase, uint64_t g, uint64_t time) {
  fprintf(out, ",\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%" PRIu64, phase,
          JSON_PROCESS, g);
  json_time(out, "ts", time);
}

void json_meta(FILE *out, uint64_t g, const char *name) {
  fprintf(out,
          ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu64
          ",\"name\":\"%s\",\"args\":{",
          JSON_PROCESS, g, name);
}

uint64_t json_units(uint64_t ns) {
  return (ns * JSON_UNITS_PER_US + 500) / 1000;
}

void json_time(FILE *out, const char *key, uint64_t time) {
  uint64_t part = time % JSON_UNITS_PER_US * (100000 / JSON_UNITS_PER_US);
  int digits = 5;
  for (; part && part % 10 == 0; part /= 10)
    digits--;
  fprintf(out, ",\"%s\":%" PRIu64, key, time / JSON_UNITS_PER_US);
  if (part)
    fprintf(out, ".%0*" PRIu64, digits, part);
}

void json_text(FILE *out, const char *key, struct trace_text text) {
  fprintf(out, "\"%s\":\"", key);
  json_escape(out, text);
  fputc('"', out);
}

void json_end_details(struct json_details *d) {
  if (d->begun)
    fputc('}', d->out);
}

void json_key(struct json_details *d, const char *key) {
  fprintf(d->out, "%s\"%s\":", d->begun ? "," : ",\"args\":{", key);
  d->begun = true;
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
