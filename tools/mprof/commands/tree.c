// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof tree: the calls from main downwards. A function is printed below its
// caller. Only branches have an indentation: a chain of functions that each
// call one other function stays in its column.

#include "commands/input.h"
#include "commands/json_view.h"
#include "commands/options.h"
#include "common/memory.h"
#include "common/saturate.h"
#include "terminal/quantity.h"
#include "terminal/table.h"
#include "view/shown_frames.h"
#include "view/stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_INDENT = 60 };

struct printer {
  const struct view *v;
  const struct call_tree *t;
  struct table *table; // NULL: JSON is printed
  bool *is_shown;      // of each node
  bool has_rows;       // of JSON
};

// Chooses the nodes with the largest totals. A parent's total is at least that
// of its child unless values are negative, so parents are chosen, too.
static void choose(struct printer *p, size_t limit) {
  const size_t count = p->t->count;
  uint32_t *order = calls_by_total(p->t);
  for (size_t i = 0; i < count && (limit == 0 || i < limit); i++)
    for (uint32_t n = order[i]; n && !p->is_shown[n]; n = p->t->nodes[n].parent)
      p->is_shown[n] = true;
  free(order);
}

static size_t shown_children(const struct printer *p, uint32_t node) {
  size_t n = 0;
  for (uint32_t c = p->t->nodes[node].first_child; c;
       c = p->t->nodes[c].next_sibling)
    n += p->is_shown[c];
  return n;
}

static void add_json(struct printer *p, uint32_t node) {
  const struct call_node *n = &p->t->nodes[node];
  printf("%s\n  {\"call\": %" PRIu32 ", \"caller\": %" PRIu32
         ", \"value\": %" PRId64 ", \"with_callees\": %" PRId64 ", ",
         p->has_rows ? "," : "", node, n->parent, n->own, n->total);
  p->has_rows = true;
  json_put_frame(stdout, p->v, &n->shown);
  fputs("}", stdout);
}

static void add_row(struct printer *p, uint32_t node, unsigned indent) {
  const struct call_node *n = &p->t->nodes[node];
  if (!p->table) {
    add_json(p, node);
    return;
  }
  const struct frame_text f = frame_parts(p->v, &n->shown);
  char text[sizeof f.text + MAX_INDENT + 1];
  if (indent > MAX_INDENT)
    indent = MAX_INDENT;
  snprintf(text, sizeof text, "%*s%s", (int)indent, "", f.text);
  table_cell(p->table, quantity_of(n->total, p->v->unit).text);
  table_cell(p->table, quantity_share(n->total, p->v->total).text);
  table_cell(p->table, n->own ? quantity_of(n->own, p->v->unit).text : "");
  table_cell(p->table, text);
}

// Returns the first shown node of the list of siblings that begins with node.
static uint32_t shown_from(const struct printer *p, uint32_t node) {
  while (node && !p->is_shown[node])
    node = p->t->nodes[node].next_sibling;
  return node;
}

// Adds the rows of all shown nodes, in the order of a walk through the tree.
// Stacks can be deep, so the walk is no recursion.
static size_t add_rows(struct printer *p) {
  const struct call_node *nodes = p->t->nodes;
  // The indentation of the children of each node.
  unsigned *indents = zeroed(p->t->count, sizeof *indents);
  indents[0] = 0;
  size_t rows = 0;
  uint32_t node = shown_from(p, nodes[0].first_child);
  while (node) {
    const unsigned indent = indents[nodes[node].parent];
    add_row(p, node, indent);
    rows++;
    indents[node] = indent + 2 * (shown_children(p, node) > 1);
    uint32_t next = shown_from(p, nodes[node].first_child);
    while (!next && node) {
      next = shown_from(p, nodes[node].next_sibling);
      node = nodes[node].parent;
    }
    node = next;
  }
  free(indents);
  return rows;
}

int command_tree(const struct options *options) {
  size_t limit;
  if (!input_count(options, &limit))
    return STATUS_ERROR;
  struct view *v = input_view_of_values(options);
  if (!v)
    return STATUS_ERROR;
  const struct call_tree t = calls_of(v, options->std);
  struct printer p = {.v = v, .t = &t, .is_shown = zeroed(t.count, 1)};
  // Node 0 is no function.
  choose(&p, limit ? limit + 1 : 0);
  if (option_is(options->format, "json")) {
    json_begin(stdout, options, v, t.count - 1);
    fputs("\"calls\": [", stdout);
    add_rows(&p);
    fputs("]", stdout);
    json_end(stdout, v);
    return STATUS_OK;
  }
  const struct style style = input_begin_output(options);
  p.table = table_new();
  table_column(p.table, v->type_name, ALIGN_RIGHT);
  table_column(p.table, "share", ALIGN_RIGHT);
  table_column(p.table, "own", ALIGN_RIGHT);
  table_column(p.table, "calls", ALIGN_LEFT);
  const size_t rows = add_rows(&p);
  input_print_title(v, stdout, &style);
  table_print(p.table, stdout, &style);
  input_print_end(v, stdout, &style, rows, t.count - 1, "calls", "-n 0");
  return STATUS_OK;
}
