// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_place.h"

#include "common/printable.h"
#include "json.h"

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
