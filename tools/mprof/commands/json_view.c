// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/json_view.h"

#include "commands/input.h"
#include "commands/option_table.h"
#include "commands/sarif.h"
#include "files/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void json_put_text(FILE *out, const char *name, const char *text) {
  fprintf(out, ", \"%s\": ", name);
  if (text && *text)
    json_string(out, text);
  else
    fputs("null", out);
}

void json_begin(FILE *out, const struct options *o, const struct view *v,
                size_t rows) {
  const struct profile *p = v->profile;
  fprintf(out, "{\"mprof_%s\": 1", command_rows[o->command].name);
  json_put_text(out, "command", input_comment(p, "command"));
  fprintf(out, ", \"time_ns\": %" PRId64, p->time_ns);
  json_put_text(out, "type", v->type_name);
  json_put_text(out, "unit", v->unit);
  fprintf(out,
          ",\n \"total\": %" PRId64 ", \"standard_error\": %.0f, "
          "\"profile_total\": %" PRId64 ", \"rows\": %zu,\n ",
          v->total, sqrt(v->variance), v->profile_total, rows);
}

void json_end(FILE *out, const struct view *v) {
  char *lost = input_losses(v);
  const char *comma = "";
  fputs(",\n \"lost\": [", out);
  for (char *rest = lost, *line; (line = strsep(&rest, "\n"));) {
    static const char prefix[] = "lost: ";
    if (strncmp(line, prefix, strlen(prefix)) == 0)
      line += strlen(prefix);
    if (!*line)
      continue;
    fputs(comma, out);
    json_string(out, line);
    comma = ", ";
  }
  fputs("]}\n", out);
  free(lost);
}

void json_put_frame(FILE *out, const struct view *v,
                    const struct shown_frame *f) {
  const char **strings = v->profile->strings;
  fputs("\"function\": ", out);
  json_string(out, strings[v->frames[f->frame].name]);
  json_put_text(out, "file", strings[f->place.file]);
  fprintf(out, ", \"line\": %" PRId64, f->place.line);
  json_put_text(out, "via", frame_via(v, f));
}

void json_put_frames(FILE *out, const struct view *v,
                     const struct shown_frame *frames, uint32_t count) {
  fputs("\"frames\": [", out);
  for (uint32_t i = 0; i < count; i++) {
    fputs(i ? ",\n    {" : "\n    {", out);
    json_put_frame(out, v, &frames[i]);
    fputs("}", out);
  }
  fputs("]", out);
}

void json_put_top(FILE *out, const struct options *options,
                  const struct view *v, const struct function_table *rows,
                  size_t count) {
  json_begin(out, options, v, rows->count);
  fputs("\"functions\": [", out);
  for (size_t i = 0; i < count; i++) {
    const struct function_row *r = &rows->rows[i];
    fprintf(out,
            "%s\n  {\"value\": %" PRId64 ", \"standard_error\": %.0f, "
            "\"with_callees\": %" PRId64 ", ",
            i ? "," : "", r->flat, sqrt(r->flat_variance), r->cum);
    json_put_frame(out, v, &r->shown);
    fputs("}", out);
  }
  fputs("]", out);
  json_end(out, v);
}

// --- stacks ---

// Writes the labels of all samples of a stack, each once.
static void put_labels(FILE *out, const struct view *v,
                       const struct stack_table *t,
                       const struct stack_row *row) {
  const struct profile *p = v->profile;
  const char *comma = "";
  fputs("\"labels\": [", out);
  for (uint32_t i = row->first_stack; i != NO_STACK; i = t->next_stack[i]) {
    const struct sample *s = &p->samples[v->stacks[i].sample];
    for (uint32_t k = 0; k < s->label_count; k++) {
      const struct label *l = &p->labels[s->first_label + k];
      fprintf(out, "%s\n    {\"value\": %" PRId64 ", \"key\": ", comma,
              v->stacks[i].value);
      json_string(out, p->strings[l->key]);
      if (l->str)
        json_put_text(out, "label", p->strings[l->str]);
      else
        fprintf(out, ", \"label\": %" PRId64, l->number);
      fputs("}", out);
      comma = ",";
    }
  }
  fputs("],\n   ", out);
}

void json_put_traces(FILE *out, const struct options *options,
                     const struct view *v, const struct stack_table *t,
                     size_t count) {
  json_begin(out, options, v, t->count);
  fputs("\"stacks\": [", out);
  for (size_t i = 0; i < count; i++) {
    const struct stack_row *r = &t->rows[i];
    fprintf(out,
            "%s\n  {\"value\": %" PRId64 ", \"standard_error\": %.0f,\n   ",
            i ? "," : "", r->value, sqrt(r->variance));
    put_labels(out, v, t, r);
    json_put_frames(out, v, &t->frames[r->first], r->count);
    fputs("}", out);
  }
  fputs("]", out);
  json_end(out, v);
}
