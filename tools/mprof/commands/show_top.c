// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_top.h"

#include "commands/input.h"
#include "common/memory.h"
#include "names/elf_info.h"
#include "terminal/quantity.h"
#include "terminal/sparkline.h"
#include "terminal/style.h"
#include "view/functions.h"
#include "view/shown_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- rows such as "[git]": all functions of a file without names ---

// Smallest part of the total, in percent, that a row must have with its
// callees. Most programs have some small values in libraries without names.
enum { NOTICEABLE = 5 };

// Returns the path of the file that the row "[FILE]" stands for, or JIT_FRAME.
// Returns NULL if the row stands for none, such as [truncated].
static const char *path_of(const struct profile *p, const char *row) {
  if (strcmp(row, JIT_FRAME) == 0)
    return JIT_FRAME;
  for (size_t i = 0; i < p->mapping_count; i++) {
    const char *path = p->strings[p->mappings[i].file];
    const char *base = basename(path);
    const size_t length = strlen(base);
    if (length && strncmp(row + 1, base, length) == 0 &&
        strcmp(row + 1 + length, "]") == 0)
      return path;
  }
  return NULL;
}

// Prints one line if one of the first `count` rows stands for functions without
// names, and has a noticeable part of the value. The line says how to get the
// names. A process prints the line once.
static void explain_unnamed(const struct view *v,
                            const struct function_table *rows, size_t count,
                            FILE *out) {
  static bool is_explained;
  for (size_t i = 0; i < count && !is_explained; i++) {
    const struct function_row *r = &rows->rows[i];
    const char *name = v->profile->strings[v->frames[r->shown.frame].name];
    const char *path = *name == '[' ? path_of(v->profile, name) : NULL;
    if (!path || llabs(r->cum) < v->total / (100 / NOTICEABLE))
      continue;
    style_put(out, name);
    if (strcmp(path, JIT_FRAME) == 0)
      fputs(
          " is code that was made at run time: to see its functions, use mprof "
          "run --node or --java, or node --perf-basic-prof, java "
          "-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
          "-XX:+DumpPerfMapAtExit\n",
          out);
    else if (elf_is_stripped(path))
      fputs(" has no symbols: to see its functions, install its debug symbols "
            "(often a package NAME-dbgsym), or use mprof top --debuginfod; "
            "mprof traces tells them apart by their addresses\n",
            out);
    else
      fputs(" is a file without names for its functions; mprof doctor PROFILE "
            "says what is missing\n",
            out);
    is_explained = true;
  }
}

// --- the table ---

static const struct {
  const char *one, *many;
} names[] = {[GRAIN_FUNCTIONS] = {"function", "functions"},
             [GRAIN_LINES] = {"line", "lines"},
             [GRAIN_FILES] = {"file", "files"}};

struct table *top_table(const struct view *v, const struct function_table *rows,
                        size_t count, const char *title, bool has_utf8) {
  struct table *t = table_new();
  table_column(t, v->type_name, ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, "with callees", ALIGN_RIGHT);
  table_column(t, "share", ALIGN_RIGHT);
  table_column(t, title, ALIGN_LEFT);
  for (size_t i = 0; i < count; i++) {
    const struct function_row *r = &rows->rows[i];
    table_cell(
        t,
        quantity_with_error(r->flat, r->flat_variance, v->unit, has_utf8).text);
    table_cell(t, quantity_share(r->flat, v->total).text);
    table_cell(t, quantity_of(r->cum, v->unit).text);
    table_cell(t, quantity_share(r->cum, v->total).text);
    table_cell(t, frame_parts(v, &r->shown).text);
  }
  return t;
}

// Prints the bytes in use over time that the runtime has kept with a heap
// profile, unless the view leaves out some of them, or they are so few that the
// whole KiB of this text are too coarse.
static void print_curve(const struct view *v, FILE *out) {
  const char *text = input_comment(v->profile, "inuse_over_time");
  if (!text || v->profile->file_count != 1 || v->total != v->profile_total ||
      strcmp(v->empty_type ? v->empty_type : v->type_name, "inuse_space") != 0)
    return;
  enum { LEAST = 64 << 10 };
  char *end;
  const long long step_ns = strtoll(text, &end, 10);
  int64_t *values = NULL, most = 0;
  size_t count = 0, capacity = 0;
  const char *at = strncmp(end, " ns, KiB:", 9) == 0 ? end + 9 : end;
  for (long long kib; *at == ' '; at = end) {
    kib = strtoll(at, &end, 10);
    if (end == at || kib < 0 || kib > INT64_MAX >> 10)
      break;
    *APPEND(values, count, capacity) = (int64_t)kib << 10;
    most = most > (int64_t)kib << 10 ? most : (int64_t)kib << 10;
  }
  if (*at == '\0' && count > 1 && most >= LEAST && step_ns > 0 &&
      step_ns < INT64_MAX / (int64_t)count)
    fprintf(out, "in use over time: %s at most %s in %s\n",
            sparkline_of(values, count).text, quantity_of(most, "bytes").text,
            quantity_of(step_ns * (int64_t)(count - 1), "nanoseconds").text);
  free(values);
}

void show_top(const struct view *v, const struct function_table *rows,
              size_t limit, enum view_grain grain, FILE *out,
              const struct style *style, const char *how) {
  const size_t count = limit && limit < rows->count ? limit : rows->count;
  struct table *t =
      top_table(v, rows, count, names[grain].one, style->has_utf8);
  input_print_title(v, out, style);
  table_print(t, out, style);
  input_print_end(v, out, style, count, rows->count, names[grain].many, how);
  if (style->has_utf8)
    print_curve(v, out);
  explain_unnamed(v, rows, count, out);
  table_free(t);
}
