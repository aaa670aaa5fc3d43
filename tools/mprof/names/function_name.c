// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define _GNU_SOURCE 1 // basename

#include "names/function_name.h"

#include "common/memory.h"
#include "names/scopes.h"
#include "names/split.h"
#include "names/variable.h"
#include "symbolize/short_name.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

// Lambdas inside of more other ones are not named.
enum { MAX_NESTED = 16 };

static const char *string_of(const struct name_source *s, Dwarf_Die *die,
                             unsigned name) {
  Dwarf_Attribute a;
  if (!dwarf_attr_integrate(die, name, &a))
    return NULL;
  return s->split ? split_string(s->split, &a) : dwarf_formstring(&a);
}

const char *function_name(const struct name_source *s, Dwarf_Die *die) {
  static const unsigned attributes[] = {DW_AT_linkage_name,
                                        DW_AT_MIPS_linkage_name, DW_AT_name};
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
    const char *name = string_of(s, die, attributes[i]);
    if (name)
      return name;
  }
  return "";
}

Dwarf_Word die_number(Dwarf_Die *die, unsigned name, bool is_own) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (is_own)
    dwarf_formudata(dwarf_attr(die, name, &attribute), &value);
  else
    dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &value);
  return value;
}

const char *die_file(Dwarf_Die *unit, Dwarf_Word number) {
  Dwarf_Files *files;
  size_t count;
  if (dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count)
    return NULL;
  const char *file = dwarf_filesrc(files, number, NULL, NULL);
  // libdw's name of file 0, which exists from DWARF 5 on only.
  return file && strcmp(file, "???") == 0 ? NULL : file;
}

// --- call operators ---

// Returns the DIE of the function in its class.
static Dwarf_Die declaration_of(Dwarf_Die *die) {
  static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
  Dwarf_Die at = *die;
  // There is at most one link of each kind, and no circle is followed.
  for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
    Dwarf_Attribute a;
    Dwarf_Die next;
    if (dwarf_formref_die(dwarf_attr(&at, links[i], &a), &next))
      at = next;
  }
  return at;
}

struct other_unit {
  struct other_unit *next;
  Dwarf_Die die;
  struct scopes scopes; // only its methods
};

void other_units_free(struct other_unit *u) {
  for (struct other_unit *next; u; u = next) {
    next = u->next;
    scopes_free(&u->scopes);
    free(u);
  }
}

static struct other_unit *other_unit(struct other_unit **all, Dwarf_Die die) {
  for (struct other_unit *u = *all; u; u = u->next)
    if (u->die.addr == die.addr)
      return u;
  struct other_unit *u = zeroed(1, sizeof *u);
  *u = (struct other_unit){*all, die, scopes_of(&die, NULL, NULL, 0)};
  *all = u;
  return u;
}

// Returns the method with this DIE, or NULL. Sets *of to the unit of the DIE.
static struct method *method_of(const struct name_source *s, Dwarf_Die *die,
                                struct name_source *of) {
  *of = *s;
  struct method *m = scopes_method(s->scopes, die);
  Dwarf_Die unit;
  if (m || s->split || !dwarf_diecu(die, &unit, NULL, NULL) ||
      unit.addr == s->unit->addr)
    return m;
  struct other_unit *u = other_unit(s->others, unit);
  of->unit = &u->die;
  of->scopes = &u->scopes;
  return scopes_method(&u->scopes, die);
}

// Returns the name of a class without template arguments, or the place of a
// lambda.
static char *class_name(const struct name_source *s, Dwarf_Die *type) {
  const char *name = string_of(s, type, DW_AT_name);
  if (name)
    return text_of("%.*s", (int)strcspn(name, "<"), name);
  const char *file = die_file(s->unit, die_number(type, DW_AT_decl_file, true));
  const unsigned line = (unsigned)die_number(type, DW_AT_decl_line, true);
  return file && line ? text_of("{lambda %s:%u}", basename(file), line)
                      : text_of("{lambda}");
}

// Returns the function's name without parameters and template arguments.
static char *short_name(const char *symbol) {
  char *plain = plain_name(symbol);
  const size_t size = strlen(plain) + 1;
  struct mprof_text text = {.buf = zeroed(size, 1), .cap = size};
  mprof_short_name(&text, plain,
                   strncmp(symbol, "_Z", 2) == 0 ? MPROF_NAME_IS_CXX : 0);
  free(plain);
  return text.buf;
}

static char *nested_name(const struct name_source *s, Dwarf_Die *die,
                         unsigned depth) {
  static const char word[] = "operator()";
  const char *name = function_name(s, die);
  // GCC adds template arguments.
  if (strncmp(name, word, strlen(word)) != 0 || depth == MAX_NESTED)
    return NULL;
  Dwarf_Die declaration = declaration_of(die);
  struct name_source of;
  struct method *m = method_of(s, &declaration, &of);
  if (!m)
    return NULL;
  char *type = class_name(&of, &m->type), *outer = NULL, *whole;
  if (m->has_function) {
    outer = nested_name(&of, &m->function, depth + 1);
    if (!outer)
      outer = short_name(function_name(&of, &m->function));
  }
  whole =
      text_of("%s%s%s::%s", outer ? outer : "", outer ? "::" : "", type, word);
  free(outer);
  free(type);
  return whole;
}

char *call_operator_name(const struct name_source *s, Dwarf_Die *die) {
  return nested_name(s, die, 0);
}
