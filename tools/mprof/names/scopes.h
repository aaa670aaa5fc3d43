// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions and inlined functions of a compilation unit that contain given
// addresses.

#ifndef MPROF_TOOL_SCOPES_H
#define MPROF_TOOL_SCOPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NO_SCOPE = UINT32_MAX };

struct split_unit;

struct scope {
  Dwarf_Die die;
  uint32_t parent; // the function into which it is inlined, or NO_SCOPE
};

// A function of a class that has no name for the linker.
struct method {
  const void *at;           // its DIE
  Dwarf_Die type, function; // the class, and the function around it
  bool has_function;
};

struct scopes {
  struct scope *items;
  uint32_t *innermost; // for each address the index of a scope, or NO_SCOPE
  size_t count, capacity;
  struct method *methods; // of the whole unit, sorted
  size_t method_count, method_capacity;
};

// Finds the scopes of sorted addresses. unit is the DIE whose children are
// searched. split is not NULL if the unit is split DWARF.
struct scopes scopes_of(Dwarf_Die *unit, const struct split_unit *split,
                        const Dwarf_Addr *addresses, size_t count);
// Returns the method with this DIE, or NULL.
struct method *scopes_method(const struct scopes *s, const Dwarf_Die *die);
void scopes_free(struct scopes *s);

#endif
