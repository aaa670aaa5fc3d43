// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/scopes.h"

#include "common/memory.h"
#include "names/split.h"

#include <dwarf.h>
#include <stdlib.h>

// Deeper trees of DIEs are not read. Compilers nest at most some dozens.
enum { MAX_DEPTH = 1000 };

struct walk {
  struct scopes *found;
  const struct split_unit *split;
  const Dwarf_Addr *addresses;
  size_t count;
  // The function whose address ranges are being read.
  struct scope scope;
  uint32_t index; // of this scope, or NO_SCOPE if it contains no address yet
  bool has_ranges;
};

// What is known about the DIEs around a DIE.
struct outer {
  uint32_t scope; // the innermost scope, or NO_SCOPE
  // The function around contains none of the addresses, so functions that are
  // inlined into it do not, either.
  bool is_foreign;
  Dwarf_Die *function; // the innermost function in the source text, or NULL
  Dwarf_Die *type;     // the class whose children are being read, or NULL
};

static size_t first_at_least(const struct walk *w, Dwarf_Addr address) {
  size_t low = 0, high = w->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (w->addresses[middle] < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Notes that the current function contains the addresses from low to high. A
// function that is inside of another one comes later, and replaces it.
static void add_range(void *arg, Dwarf_Addr low, Dwarf_Addr high) {
  struct walk *w = arg;
  struct scopes *s = w->found;
  w->has_ranges = true;
  for (size_t i = first_at_least(w, low);
       i < w->count && w->addresses[i] < high; i++) {
    if (w->index == NO_SCOPE) {
      w->index = (uint32_t)s->count;
      *APPEND(s->items, s->count, s->capacity) = w->scope;
    }
    s->innermost[i] = w->index;
  }
}

static void read_ranges(struct walk *w, Dwarf_Die *die) {
  Dwarf_Addr base, low, high;
  if (w->split) {
    split_ranges(w->split, die, add_range, w);
    return;
  }
  for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;)
    add_range(w, low, high);
}

// Notes a method of the class. Its DIE comes after those of earlier calls.
static void add_method(struct walk *w, Dwarf_Die *die, struct outer outer) {
  struct scopes *s = w->found;
  if (dwarf_hasattr(die, DW_AT_linkage_name) ||
      dwarf_hasattr(die, DW_AT_MIPS_linkage_name))
    return;
  struct method *m = APPEND(s->methods, s->method_count, s->method_capacity);
  *m = (struct method){.at = die->addr,
                       .type = *outer.type,
                       .has_function = outer.function != NULL};
  if (outer.function)
    m->function = *outer.function;
}

// Returns what the children of the DIE must know.
static struct outer enter(struct walk *w, Dwarf_Die *die, struct outer outer) {
  const int tag = dwarf_tag(die);
  const bool is_inlined = tag == DW_TAG_inlined_subroutine;
  if (tag == DW_TAG_subprogram && outer.type)
    add_method(w, die, outer);
  outer.type =
      tag == DW_TAG_structure_type || tag == DW_TAG_class_type ? die : NULL;
  if (!is_inlined && tag != DW_TAG_subprogram)
    return outer;
  if (!is_inlined)
    outer.function = die;
  if (is_inlined && outer.is_foreign)
    return outer;
  w->scope = (struct scope){*die, is_inlined ? outer.scope : NO_SCOPE};
  w->index = NO_SCOPE;
  w->has_ranges = false;
  read_ranges(w, die);
  if (w->index != NO_SCOPE)
    return (struct outer){w->index, false, outer.function, NULL};
  return (struct outer){is_inlined ? outer.scope : NO_SCOPE,
                        is_inlined ? outer.is_foreign : w->has_ranges,
                        outer.function, NULL};
}

// Whether a DIE with this tag contains functions.
static bool may_contain(int tag) {
  return tag != DW_TAG_enumeration_type && tag != DW_TAG_array_type &&
         tag != DW_TAG_subroutine_type && tag != DW_TAG_call_site &&
         tag != DW_TAG_GNU_call_site;
}

static void walk_children(struct walk *w, Dwarf_Die *parent, struct outer outer,
                          unsigned depth) {
  Dwarf_Die die;
  if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
    return;
  do {
    const struct outer inner = enter(w, &die, outer);
    if (dwarf_haschildren(&die) > 0 && may_contain(dwarf_tag(&die)))
      walk_children(w, &die, inner, depth + 1);
  } while (dwarf_siblingof(&die, &die) == 0);
}

struct scopes scopes_of(Dwarf_Die *unit, const struct split_unit *split,
                        const Dwarf_Addr *addresses, size_t count) {
  struct scopes found = {.innermost = zeroed(count, sizeof(uint32_t))};
  for (size_t i = 0; i < count; i++)
    found.innermost[i] = NO_SCOPE;
  struct walk w = {
      .found = &found, .split = split, .addresses = addresses, .count = count};
  walk_children(&w, unit, (struct outer){.scope = NO_SCOPE}, 0);
  return found;
}

struct method *scopes_method(const struct scopes *s, const Dwarf_Die *die) {
  size_t low = 0, high = s->method_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const uintptr_t at = (uintptr_t)s->methods[middle].at;
    if (at == (uintptr_t)die->addr)
      return &s->methods[middle];
    if (at < (uintptr_t)die->addr)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

void scopes_free(struct scopes *s) {
  free(s->methods);
  free(s->items);
  free(s->innermost);
  *s = (struct scopes){0};
}
