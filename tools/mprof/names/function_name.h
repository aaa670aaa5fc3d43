// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of functions in debug information.

#ifndef MPROF_TOOL_FUNCTION_NAME_H
#define MPROF_TOOL_FUNCTION_NAME_H

#include <elfutils/libdw.h>
#include <stdbool.h>

struct scopes;
struct split_unit;

struct other_unit;

struct name_source {
  Dwarf_Die *unit;                // has the line table
  const struct split_unit *split; // or NULL
  const struct scopes *scopes;    // of the unit
  // Other units whose methods the unit's functions refer to: GCC's link time
  // optimization moves code to units of its own.
  struct other_unit **others;
};

void other_units_free(struct other_unit *u);

// Returns the function's name as the linker calls it, or else as in the source
// text, or "".
const char *function_name(const struct name_source *s, Dwarf_Die *die);
// Returns a name such as "main::{lambda FILE:LINE}::operator()" if the function
// is the call operator of a lambda or class without a name for the linker.
// GCC gives none to those in functions without one. Returns NULL for other
// functions. The caller frees the result.
char *call_operator_name(const struct name_source *s, Dwarf_Die *die);

// Returns the number in an attribute of the DIE, or 0. is_own: attributes of
// the function that is inlined do not count.
Dwarf_Word die_number(Dwarf_Die *die, unsigned name, bool is_own);
// Returns the path of the file with this number in the unit's line table, or
// NULL.
const char *die_file(Dwarf_Die *unit, Dwarf_Word number);

#endif
