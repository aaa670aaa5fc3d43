// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "html/trace_slowest.h"

#include "common/memory.h"
#include "html/trace_page.h"
#include "task_causes.h"

#include <inttypes.h>
#include <stdlib.h>

static void write_thread(const struct latency *l, uint64_t g, FILE *out) {
  const struct trace_text name = times_of(l->times, g)->name;
  char *text =
      text_of("%.*s%sG%" PRIu64, (int)name.length,
              name.length ? name.bytes : "", name.length ? " " : "", g);
  trace_text_write(trace_text_of(text), out);
  free(text);
}

// Writes the thread that held the lock for the longest part of the wait.
static void write_holder(const struct latency *l, const struct holder_part *h,
                         FILE *out) {
  fprintf(out, ",\"held\":{\"ns\":%" PRIu64 ",\"thread\":", h->ns);
  write_thread(l, h->g, out);
  fputs(",\"in\":", out);
  trace_name_write(h->at.function, out);
  fputc('}', out);
}

// ns: of the part, or of all parts that it stands for.
static void write_part(const struct latency *l, const struct task_part *p,
                       uint64_t ns, FILE *out) {
  const bool is_attended = p->kind != TASK_UNATTENDED;
  fprintf(out, "{\"ns\":%" PRIu64 ",\"isWait\":%s,\"kind\":", ns,
          is_attended && p->kind >= TIME_WAITS ? "true" : "false");
  trace_text_write(is_attended ? times_name(l->times, p->kind) : TEXT(""), out);
  fputs(",\"lock\":", out);
  trace_text_write(p->lock, out);
  fputs(",\"in\":", out);
  trace_name_write(p->at.function, out);
  if (p->held.count)
    write_holder(l, &p->held.v[0], out);
  fputc('}', out);
}

// Writes what the slowest tasks have in common.
static void write_causes(const struct latency *l, FILE *out) {
  enum { CAUSES = 3 };
  struct task_causes c = task_causes_find(l);
  fprintf(out, ",\n\"together\":{\"count\":%zu,\"ns\":%" PRIu64 ",\"parts\":[",
          l->studied_count, c.ns);
  for (size_t i = 0; i < c.count && i < CAUSES; i++) {
    fputs(i ? "," : "", out);
    write_part(l, c.v[i].largest, c.v[i].ns, out);
  }
  fputs("]}", out);
  task_causes_free(&c);
}

void slowest_write(const struct latency *l, struct trace_window window,
                   FILE *out) {
  enum { PARTS = 3 };
  fprintf(out, ",\n\"slowest\":{\"count\":%zu,\"areRegions\":%s,\"tasks\":[",
          l->in_window, l->are_regions ? "true" : "false");
  for (size_t i = 0; i < l->slowest_count; i++) {
    const struct task_times *w = &l->slowest[i];
    fprintf(out, "%s{\"begin\":%" PRId64 ",\"length\":%" PRIu64 ",\"name\":",
            i ? ",\n" : "", (int64_t)(w->task->begin - window.from),
            task_length(w->task));
    trace_text_write(w->task->name, out);
    fputs(",\"parts\":[", out);
    for (size_t k = 0; k < w->part_count && k < PARTS; k++) {
      fputs(k ? "," : "", out);
      write_part(l, &w->parts[k], w->parts[k].ns, out);
    }
    fputs("]}", out);
  }
  fputs("]", out);
  if (l->studied_count > l->slowest_count)
    write_causes(l, out);
  fputs("}", out);
}
