// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "html/page.h"

#include "common/memory.h"
#include "files/json.h"
#include "html/assets.h"
#include "html/page_data.h"
#include "html/small_stacks.h"
#include "memory/account.h"
#include "view/estimate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct page *page_new(void) {
  struct page *page = zeroed(1, sizeof *page);
  page->texts = profile_new();
  *APPEND(page->nodes, page->node_count, page->node_capacity) =
      (struct page_node){0};
  return page;
}

uint32_t page_text(struct page *page, const char *text) {
  return profile_text(page->texts, text);
}

void page_add_json(struct page *page, const char *list, char *json) {
  struct page_list *l =
      strcmp(list, "traces") == 0 ? &page->traces : &page->reports;
  *APPEND(l->items, l->count, l->capacity) = json;
}

void page_add_notes(struct page *page, char *notes) {
  page->sets[page->set_count - 1].notes = notes;
}

// --- tables ---

static void write_texts(const struct page *page, FILE *out) {
  fputs("\"texts\":[", out);
  for (size_t i = 0; i < page->texts->string_count; i++) {
    fputs(i ? ",\n" : "", out);
    json_string(out, page->texts->strings[i]);
  }
  fputc(']', out);
}

static void write_functions(const struct page *page, unsigned grain,
                            FILE *out) {
  static const char *const names[] = {[GRAIN_FUNCTIONS] = "functions",
                                      [GRAIN_LINES] = "lines",
                                      [GRAIN_FILES] = "files"};
  struct stream s = {0};
  for (size_t i = 0; i < page->function_count[grain]; i++) {
    const struct page_function *f = &page->functions[grain][i];
    stream_put(&s, f->name);
    stream_put(&s, f->file);
    stream_put_signed(&s, f->line);
    stream_put(&s, f->is_std);
    stream_put(&s, f->module);
  }
  stream_write(&s, names[grain], page->function_count[grain], out);
}

static void write_frames(const struct page *page, FILE *out) {
  struct stream s = {0};
  for (size_t i = 0; i < page->frame_count; i++)
    for (unsigned grain = 0; grain < GRAINS; grain++)
      stream_put(&s, page->frames[i].functions[grain]);
  stream_write(&s, "frames", page->frame_count, out);
}

// Numbers the nodes so that the callees of a node follow it, and writes for
// each node the number of levels that it is higher than a callee of its
// predecessor.
static void write_nodes(struct page *page, FILE *out) {
  struct stream s = {0};
  uint32_t number = 0, up = 0;
  for (uint32_t i = page->nodes[0].first_child; i;) {
    struct page_node *n = &page->nodes[i];
    n->number = ++number;
    stream_put(&s, up);
    stream_put(&s, n->frame);
    up = 0;
    if (n->first_child) {
      i = n->first_child;
      continue;
    }
    for (up = 1; i && !page->nodes[i].next_sibling; up++)
      i = page->nodes[i].parent;
    if (i)
      i = page->nodes[i].next_sibling;
  }
  stream_write(&s, "nodes", number, out);
}

static void write_labels(const struct page *page, FILE *out) {
  struct stream s = {0};
  for (size_t i = 0; i < page->label_set_count; i++) {
    const struct page_labels *l = &page->label_sets[i];
    stream_put(&s, l->count);
    for (uint32_t k = 0; k < l->count; k++) {
      stream_put(&s, page->labels[l->first + k].key);
      stream_put(&s, page->labels[l->first + k].value);
    }
  }
  stream_write(&s, "labelSets", page->label_set_count, out);
}

// --- profiles ---

static void write_types(const struct profile *p, FILE *out) {
  for (unsigned i = 0; i < p->type_count; i++) {
    uint64_t total = 0;
    for (size_t k = 0; k < p->sample_count; k++) {
      const int64_t value = p->values[k * p->type_count + i];
      const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
      if (__builtin_add_overflow(total, size, &total))
        total = UINT64_MAX;
    }
    fputs(i ? "," : "", out);
    fputs("{\"name\":", out);
    json_string(out, p->strings[p->types[i].type]);
    fputs(",\"unit\":", out);
    json_string(out, p->strings[p->types[i].unit]);
    fprintf(out, ",\"total\":%" PRIu64 ",\"sampled\":%s}", total,
            estimate_is_sampled(p, i) ? "true" : "false");
  }
}

static void write_comments(const struct profile *p, FILE *out) {
  for (size_t i = 0; i < p->comment_count; i++) {
    fputs(i ? "," : "", out);
    json_string(out, p->strings[p->comments[i]]);
  }
}

// Writes each line as a string.
static void write_lines(const char *text, FILE *out) {
  for (bool is_first = true; *text; is_first = false) {
    const size_t length = strcspn(text, "\n");
    char *line = strndup(text, length);
    fputs(is_first ? "" : ",", out);
    json_string(out, line ? line : "");
    free(line);
    text += length + (text[length] == '\n');
  }
}

static void write_stacks(const struct page *page, const struct page_set *set,
                         FILE *out) {
  const unsigned types = set->profile->type_count;
  struct stream s = {0};
  int64_t last_node = 0, last_labels = 0;
  for (size_t i = 0; i < set->count; i++) {
    const int64_t node = page->nodes[set->nodes[i]].number;
    stream_put_signed(&s, node - last_node);
    stream_put_signed(&s, (int64_t)set->label_sets[i] - last_labels);
    last_node = node;
    last_labels = set->label_sets[i];
    for (unsigned k = 0; k < types; k++)
      stream_put_signed(&s, set->values[i * types + k]);
  }
  stream_write(&s, "stacks", set->count, out);
}

static void write_set(const struct page *page, const struct page_set *set,
                      FILE *out) {
  static const char *const roles[] = {[ROLE_SHOWN] = "shown",
                                      [ROLE_BASE] = "base",
                                      [ROLE_SNAPSHOT] = "snapshot"};
  const struct profile *p = set->profile;
  fputs("{\"kind\":", out);
  json_string(out, set->kind);
  fputs(",\"name\":", out);
  json_string(out, set->name);
  fprintf(out,
          ",\"role\":\"%s\",\"files\":%u,\"time\":%.0f,\"duration\":%.0f,"
          "\"period\":%.0f,\"truncated\":%s,\"type\":%u,\n\"types\":[",
          roles[set->role], p->file_count, (double)p->time_ns / 1e6,
          (double)p->duration_ns / 1e6, (double)p->period,
          p->is_truncated ? "true" : "false", profile_default_type(p));
  write_types(p, out);
  fputs("],\n\"comments\":[", out);
  write_comments(p, out);
  fputs("],\n\"lost\":[", out);
  write_lines(set->lost, out);
  fputs("],\n\"notes\":[", out);
  write_lines(set->notes ? set->notes : "", out);
  fputs("]", out);
  write_stacks(page, set, out);
  small_stacks_write(page, set, out);
  fputs("}", out);
}

static void write_sets(const struct page *page, FILE *out) {
  fputs(",\n\"profiles\":[", out);
  for (size_t i = 0; i < page->set_count; i++) {
    fputs(i ? ",\n" : "", out);
    write_set(page, &page->sets[i], out);
  }
  fputs("]", out);
}

static void write_list(const char *name, const struct page_list *list,
                       FILE *out) {
  fprintf(out, ",\n\"%s\":[", name);
  for (size_t i = 0; i < list->count; i++) {
    fputs(i ? ",\n" : "", out);
    fputs(list->items[i], out);
    free(list->items[i]);
  }
  fputs("]", out);
  free(list->items);
}

// Writes the texts for people of the frames that are parts of the memory.
static void write_memory_parts(FILE *out) {
  fputs(",\n\"memoryParts\":{", out);
  for (unsigned i = 0; i < MPROF_MEMORY_PART_COUNT; i++) {
    fputs(i ? "," : "", out);
    json_string(out, mprof_memory_part_name((enum mprof_memory_part)i));
    fputc(':', out);
    json_string(out, mprof_memory_part_text((enum mprof_memory_part)i));
  }
  fputs("}", out);
}

static void write_data(struct page *page, const struct page_start *start,
                       FILE *out) {
  fputs("{\"start\":{\"type\":", out);
  json_string(out, start->type ? start->type : "");
  fprintf(out, ",\"grain\":%u,\"std\":%s,\"version\":%lu,\"beside\":[",
          start->grain, start->keeps_std ? "true" : "false", start->version);
  for (const char *const *text = start->beside; text && *text; text++) {
    fputs(text == start->beside ? "" : ",", out);
    json_string(out, *text);
  }
  fputs("]},\n", out);
  write_texts(page, out);
  for (unsigned grain = 0; grain < GRAINS; grain++)
    write_functions(page, grain, out);
  stream_write(&page->whole_names, "wholeNames", page->whole_name_count, out);
  write_frames(page, out);
  if (page->small_limit > 0)
    fprintf(out, ",\n\"smallFrame\":%" PRIu32, page->small_frame);
  write_nodes(page, out);
  write_labels(page, out);
  write_sets(page, out);
  write_list("traces", &page->traces, out);
  write_list("reports", &page->reports, out);
  write_memory_parts(out);
  fprintf(out, ",\n\"sources\":%s}", page->sources ? page->sources : "[]");
}

static void free_page(struct page *page) {
  profile_free(page->texts);
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    free(page->functions[grain]);
    intern_free(&page->function_sets[grain]);
  }
  for (size_t i = 0; i < page->set_count; i++) {
    free(page->sets[i].lost);
    free(page->sets[i].notes);
    free(page->sets[i].nodes);
    free(page->sets[i].samples);
    small_stacks_free(page->sets[i].small);
    free(page->sets[i].label_sets);
    free(page->sets[i].values);
  }
  intern_free(&page->frame_set);
  intern_free(&page->node_set);
  intern_free(&page->label_set_set);
  free(page->frames);
  free(page->nodes);
  free(page->labels);
  free(page->label_sets);
  free(page->sets);
  free(page->sources);
  free(page);
}

// --- the document ---

void page_put_policy(bool is_served, FILE *out) {
  fprintf(out,
          "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; "
          "%sbase-uri 'none'; form-action 'none'",
          html_script_hash, html_style_hash,
          is_served ? "connect-src 'self'; " : "");
}

void page_write(struct page *page, const struct page_start *start, FILE *out) {
  small_stacks_cut(page);
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"",
        out);
  page_put_policy(start->version != 0, out);
  fputs("\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"generator\" content=\"MProf " MPROF_VERSION "\">\n"
        "<title>MProf</title>\n<style>",
        out);
  fwrite(html_style, 1, html_style_size, out);
  fputs("</style>\n</head>\n<body>\n<noscript>This report needs JavaScript, "
        "which it runs without any network access.</noscript>\n"
        "<script type=\"application/json\" id=\"data\">",
        out);
  write_data(page, start, out);
  fputs("</script>\n<script>", out);
  fwrite(html_script, 1, html_script_size, out);
  fputs("</script>\n</body>\n</html>\n", out);
  free_page(page);
}
