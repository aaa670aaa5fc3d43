// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/convert.h"

#include "common/idmap.h"
#include "common/memory.h"
#include "common/printable.h"
#include "common/saturate.h"
#include "files/json.h"
#include "sys/base.h"
#include "view/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct view *v, uint32_t frame) {
  return v->profile->strings[v->frames[frame].name];
}

// --- folded stacks and CSV ---

// Writes the text. Control characters become "?", and the character `from`
// becomes the text `to`.
static void put_clean(FILE *out, const char *text, char from, const char *to) {
  while (*text) {
    const size_t n = printable_length(text);
    if (*text == from)
      fputs(to, out);
    else if (n == 0)
      fputc('?', out);
    else
      fwrite(text, 1, n, out);
    text += n ? n : printable_skip(text);
  }
}

// Writes a name without the character that separates names.
static void put_folded(FILE *out, const char *name) {
  put_clean(out, name, ';', ",");
}

static void put_stack(const struct view *v, const struct stack_table *t,
                      const struct stack_row *r, FILE *out,
                      void (*put)(FILE *out, const char *name)) {
  for (uint32_t i = r->count; i-- > 0;) {
    put(out, name_of(v, t->frames[r->first + i].frame));
    if (i > 0)
      fputc(';', out);
  }
  if (r->count == 0)
    put(out, "[no stack]");
}

void write_folded(const struct view *v, FILE *out) {
  struct stack_table t = stacks_of(v, true);
  for (size_t i = 0; i < t.count; i++) {
    put_stack(v, &t, &t.rows[i], out, put_folded);
    fprintf(out, " %" PRId64 "\n", t.rows[i].value);
  }
  stacks_free(&t);
}

// Writes a name of a stack inside the quotes of a field.
static void put_csv(FILE *out, const char *name) {
  put_clean(out, name, '"', "\"\"");
}

void csv_string(FILE *out, const char *text) {
  fputc('"', out);
  // A spreadsheet takes a field that begins so for a formula.
  if (*text && strchr("=+-@", *text))
    fputc('\'', out);
  put_csv(out, text);
  fputc('"', out);
}

void write_csv(const struct view *v, FILE *out) {
  struct stack_table t = stacks_of(v, true);
  fputs("value,unit,stack\n", out);
  for (size_t i = 0; i < t.count; i++) {
    fprintf(out, "%" PRId64 ",", t.rows[i].value);
    csv_string(out, v->unit);
    fputs(",\"", out);
    put_stack(v, &t, &t.rows[i], out, put_csv);
    fputs("\"\n", out);
  }
  stacks_free(&t);
}

// --- speedscope ---

static void put_frames(const struct view *v, FILE *out) {
  for (size_t i = 0; i < v->frame_count; i++) {
    const struct frame *f = &v->frames[i];
    fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
    json_string(out, name_of(v, (uint32_t)i));
    if (f->example.file) {
      fputs(",\"file\":", out);
      json_string(out, v->profile->strings[f->example.file]);
    }
    if (f->example.line > 0)
      fprintf(out, ",\"line\":%" PRId64, f->example.line);
    fputc('}', out);
  }
}

static const char *speedscope_unit(const char *unit) {
  static const char *const known[] = {"bytes", "nanoseconds", "microseconds",
                                      "milliseconds", "seconds"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(unit, known[i]) == 0)
      return unit;
  return "none";
}

void write_speedscope(const struct view *v, FILE *out) {
  int64_t total = 0;
  fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
        "\"exporter\":\"mprof " MPROF_VERSION "\",\n\"shared\":{\"frames\":[",
        out);
  put_frames(v, out);
  fputs("]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":", out);
  json_string(out, v->type_name);
  fprintf(out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
          speedscope_unit(v->unit));
  const char *comma = "";
  for (size_t i = 0; i < v->stack_count; i++) {
    const struct view_stack *s = &v->stacks[i];
    if (s->value <= 0)
      continue;
    fprintf(out, "%s\n[", comma);
    comma = ",";
    for (uint32_t k = s->count; k-- > 0;)
      fprintf(out, "%" PRIu32 "%s", v->stack_frames[s->first + k].frame,
              k ? "," : "");
    fputc(']', out);
  }
  fputs("],\n\"weights\":[", out);
  comma = "";
  for (size_t i = 0; i < v->stack_count; i++) {
    if (v->stacks[i].value <= 0)
      continue;
    fprintf(out, "%s%" PRId64, comma, v->stacks[i].value);
    comma = ",";
    add_to(&total, v->stacks[i].value);
  }
  fprintf(out, "],\"endValue\":%" PRId64 "}]}\n", total);
}

// --- Chrome ---

// Writes the slices of the call tree. A slice begins where its elder sibling
// ends. Stacks can be deep, so the walk is no recursion.
void write_chrome(const struct view *v, FILE *out) {
  struct call_tree t = calls_of(v, true);
  int64_t *starts = zeroed(t.count, sizeof *starts);
  int64_t *ends = zeroed(t.count, sizeof *ends); // of the children so far
  const char *comma = "";
  fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
  uint32_t node = t.nodes[0].first_child;
  while (node) {
    const struct call_node *n = &t.nodes[node];
    starts[node] = ends[node] = ends[n->parent];
    if (n->total > 0) {
      add_to(&ends[n->parent], n->total);
      fprintf(out,
              "%s\n{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%" PRId64
              ",\"dur\":%" PRId64 ",\"name\":",
              comma, starts[node], n->total);
      json_string(out, name_of(v, n->shown.frame));
      fputc('}', out);
      comma = ",";
    }
    uint32_t next = n->total > 0 ? n->first_child : 0;
    while (!next && node) {
      next = t.nodes[node].next_sibling;
      node = t.nodes[node].parent;
    }
    node = next;
  }
  fputs("]}\n", out);
  free(starts);
  free(ends);
  calls_free(&t);
}

// --- callgrind ---

// A call from a line of a function to another function.
struct edge {
  uint32_t caller, callee;
  int64_t value;
};

struct edges {
  struct edge *items;
  size_t count, capacity;
  struct idmap set;
};

static void add_edge(struct edges *e, uint32_t caller, uint32_t callee,
                     int64_t value) {
  const size_t index =
      idmap_get(&e->set, (uint64_t)caller << 32 | callee, e->count);
  if (index == e->count)
    *APPEND(e->items, e->count, e->capacity) =
        (struct edge){.caller = caller, .callee = callee};
  add_to(&e->items[index].value, value);
}

static int by_caller(const void *x, const void *y) {
  const struct edge *a = x, *b = y;
  if (a->caller != b->caller)
    return a->caller < b->caller ? -1 : 1;
  return (a->callee > b->callee) - (a->callee < b->callee);
}

static void put_line(const char *key, const char *text, FILE *out) {
  fprintf(out, "%s=", key);
  put_folded(out, *text ? text : "???");
  fputc('\n', out);
}

void write_callgrind(const struct view *v, FILE *out) {
  const char **strings = v->profile->strings;
  int64_t *own = zeroed(v->frame_count, sizeof *own);
  struct edges e = {0};
  for (size_t i = 0; i < v->stack_count; i++) {
    const struct view_stack *s = &v->stacks[i];
    const struct stack_frame *frames = &v->stack_frames[s->first];
    if (s->count)
      add_to(&own[frames[0].frame], s->value);
    for (uint32_t k = 1; k < s->count; k++)
      add_edge(&e, frames[k].frame, frames[k - 1].frame, s->value);
  }
  if (e.count)
    qsort(e.items, e.count, sizeof *e.items, by_caller);
  fputs("# callgrind format\nversion: 1\ncreator: mprof " MPROF_VERSION
        "\npositions: line\nevents: ",
        out);
  put_folded(out, v->type_name);
  fputc('\n', out);
  size_t next = 0;
  for (uint32_t i = 0; i < v->frame_count; i++) {
    const struct frame *f = &v->frames[i];
    fputc('\n', out);
    put_line("fl", strings[f->example.file], out);
    put_line("fn", strings[f->name], out);
    fprintf(out, "%" PRId64 " %" PRId64 "\n", f->example.line, own[i]);
    for (; next < e.count && e.items[next].caller == i; next++) {
      const struct frame *g = &v->frames[e.items[next].callee];
      put_line("cfi", strings[g->example.file], out);
      put_line("cfn", strings[g->name], out);
      fprintf(out, "calls=1 %" PRId64 "\n%" PRId64 " %" PRId64 "\n",
              g->example.line, f->example.line, e.items[next].value);
    }
  }
  free(own);
  free(e.items);
  idmap_clear(&e.set);
}
