// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/variable.h"

#include "common/demangle.h"
#include "common/memory.h"
#include "names/cut_name.h"
#include "symbolize/short_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A longer name is not demangled.
enum { MAX_NAME = 1 << 16 };

char *plain_name(const char *name) {
  const size_t length = mprof_name_length(name, strlen(name));
  char *symbol = text_of("%.*s", (int)length, name);
  char *plain = length < MAX_NAME ? demangle(symbol) : NULL;
  if (!plain)
    return symbol;
  free(symbol);
  return plain;
}

char *variable_name(const struct symbols *symbols, uint64_t address) {
  enum { OFFSET = 24 };
  const struct symbol *s = symbols_find(symbols, address);
  // A symbol without size, such as _end, does not contain the address.
  if (!s || s->size == 0 || !*s->name)
    return NULL;
  char *name = plain_name(s->name);
  mprof_cut_name(name, MPROF_CUT_ALL - OFFSET);
  if (address == s->value)
    return name;
  char *text = text_of("%s+0x%" PRIx64, name, address - s->value);
  free(name);
  return text;
}
