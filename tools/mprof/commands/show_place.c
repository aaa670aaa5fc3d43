// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_place.h"

#include "common/plural.h"
#include "common/printable.h"
#include "json.h"
#include "terminal/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void show_text(struct trace_text text) {
  printable_put(stdout, text.bytes, text.length);
}

void show_thread(struct trace_text name, uint64_t g) {
  show_text(name);
  printf("%sG%" PRIu64, name.length ? " " : "", g);
}

void show_place(const struct place *p) {
  if (p->function.length)
    show_text(p->function);
  else if (p->pc)
    printf("0x%" PRIx64, p->pc);
  else
    fputs("an unknown line", stdout);
  struct trace_text file = p->file;
  if (!file.length)
    return;
  const char *slash = memrchr(file.bytes, '/', file.length);
  if (slash) {
    file.length -= (size_t)(slash + 1 - file.bytes);
    file.bytes = slash + 1;
  }
  putchar(' ');
  show_text(file);
  if (p->line)
    printf(":%" PRIu64, p->line);
}

void show_sampled(const struct sampled *s) {
  enum { MOST = 3 };
  for (size_t i = 0; i < s->count && i < MOST; i++) {
    const struct sampled_function *f = &s->functions[i];
    const struct place at = {f->at.function, TEXT(""), 0, f->at.pc};
    printf("%s%s ", i ? ", " : "",
           quantity_share((int64_t)f->samples, (int64_t)s->samples).text);
    show_place(&at);
  }
  printf(" (%" PRIu64 " CPU sample%s)", s->samples, plural(s->samples));
}

void show_sampled_json(const struct sampled *s) {
  if (!s->samples)
    return;
  printf(",\"samples\":%" PRIu64 ",\"functions\":[", s->samples);
  for (size_t i = 0; i < s->count; i++) {
    const struct sampled_function *f = &s->functions[i];
    fputs(i ? ",{" : "{", stdout);
    json_text(stdout, "function", f->at.function);
    putchar(',');
    json_text(stdout, "file", f->at.file);
    printf(",\"samples\":%" PRIu64 "}", f->samples);
  }
  putchar(']');
}

void show_place_json(const char *key, const struct place *p) {
  printf(",\"%s\":", key);
  if (!p->pc) {
    fputs("null", stdout);
    return;
  }
  putchar('{');
  json_text(stdout, "function", p->function);
  putchar(',');
  json_text(stdout, "file", p->file);
  printf(",\"line\":%" PRIu64 "}", p->line);
}
