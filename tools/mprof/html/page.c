// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "html/page.h"

#include "common/memory.h"
#include "files/json.h"
#include "html/assets.h"
#include "html/page_data.h"
#include "html/page_numbers.h"
#include "html/small_losses.h"
#include "html/small_stacks.h"
#include "html/source_page.h"
#include "memory/account.h"
#include "view/estimate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The largest size of a page, and what its tables may have at least, whatever
// the traces need. Fuzzers set fewer.
#ifndef MPROF_PAGE_BYTES
#define MPROF_PAGE_BYTES 15000000
#endif
enum {
  MAX_BYTES = MPROF_PAGE_BYTES,
  MIN_TABLES = MAX_BYTES / 4,
  MAX_SOURCES = 4 << 20,
  MIN_SOURCES = MAX_BYTES / 16,
};

const char *const page_grain_names[] = {[GRAIN_FUNCTIONS] = "functions",
                                        [GRAIN_LINES] = "lines",
                                        [GRAIN_FILES] = "files"};

struct page *page_new(void) {
  struct page *page = zeroed(1, sizeof *page);
  page->texts = profile_new();
  *APPEND(page->nodes, page->node_count, page->node_capacity) =
      (struct page_node){0};
  return page;
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
    if (page->numbers.texts[i] == NOT_WRITTEN)
      continue;
    fputs(i ? ",\n" : "", out);
    json_string(out, page->texts->strings[i]);
  }
  fputc(']', out);
}

static void write_functions(const struct page *page, unsigned grain,
                            FILE *out) {
  const struct page_numbers *numbers = &page->numbers;
  struct stream s = {0};
  size_t count = 0;
  for (size_t i = 0; i < page->function_count[grain]; i++) {
    const struct page_function *f = &page->functions[grain][i];
    if (numbers->functions[grain][i] == NOT_WRITTEN)
      continue;
    stream_put(&s, numbers->texts[f->name]);
    stream_put(&s, numbers->texts[f->file]);
    stream_put_signed(&s, f->line);
    stream_put(&s, f->is_std);
    stream_put(&s, numbers->texts[f->module]);
    count++;
  }
  stream_write(&s, page_grain_names[grain], count, out);
}

static void write_frames(const struct page *page, FILE *out) {
  struct stream s = {0};
  const struct page_numbers *numbers = &page->numbers;
  for (size_t i = 0; i < numbers->frame_count; i++)
    for (unsigned grain = 0; grain < GRAINS; grain++)
      stream_put(&s,
                 numbers->functions[grain][page->frames[numbers->frame_order[i]]
                                               .functions[grain]]);
  stream_write(&s, "frames", numbers->frame_count, out);
}

// Writes the names in the source text of the functions of the page.
static void write_whole_names(const struct page *page, FILE *out) {
  const uint32_t *numbers = page->numbers.texts;
  struct stream s = {0};
  for (size_t at = 0; at < page->whole_names.count;)
    stream_put(&s, numbers[stream_get(&page->whole_names, &at)]);
  stream_write(&s, "wholeNames", page->whole_name_count, out);
}

// Numbers the nodes so that the callees of a node follow it, and writes runs of
// them, in which each node calls the next one: the number of levels that the
// first one is higher than a callee of the last node before, the number of
// nodes, and their frames.
static void write_nodes(struct page *page, FILE *out) {
  struct stream s = {0};
  uint32_t number = 0, up = 0;
  for (uint32_t i = page->nodes[0].first_child; i;) {
    uint32_t count = 0;
    for (uint32_t n = i; n; n = page->nodes[n].first_child)
      count++;
    stream_put(&s, up);
    stream_put(&s, count);
    for (; count; count--) {
      page->nodes[i].number = ++number;
      stream_put(&s, page->numbers.frames[page->nodes[i].frame]);
      if (page->nodes[i].first_child)
        i = page->nodes[i].first_child;
    }
    for (up = 1; i && !page->nodes[i].next_sibling; up++)
      i = page->nodes[i].parent;
    if (i)
      i = page->nodes[i].next_sibling;
  }
  stream_write(&s, "nodes", number, out);
}

static void write_labels(const struct page *page, FILE *out) {
  const uint32_t *texts = page->numbers.texts;
  struct stream s = {0};
  size_t count = 0;
  for (size_t i = 0; i < page->label_set_count; i++) {
    const struct page_labels *l = &page->label_sets[i];
    if (page->numbers.label_sets[i] == NOT_WRITTEN)
      continue;
    count++;
    stream_put(&s, l->count);
    for (uint32_t k = 0; k < l->count; k++) {
      stream_put(&s, texts[page->labels[l->first + k].key]);
      stream_put(&s, texts[page->labels[l->first + k].value]);
    }
  }
  stream_write(&s, "labelSets", count, out);
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
    const int64_t node = page->nodes[set->nodes[i]].number,
                  labels = page->numbers.label_sets[set->label_sets[i]];
    stream_put_signed(&s, node - last_node);
    stream_put_signed(&s, labels - last_labels);
    last_node = node;
    last_labels = labels;
    for (unsigned k = 0; k < types; k++)
      stream_put_signed(&s, set->values[i * types + k]);
  }
  stream_write(&s, "stacks", set->count, out);
}

// Writes the numbers of stacks for which others stand, and the losses of the
// functions.
static void write_small(const struct page *page, const struct page_set *set,
                        FILE *out) {
  struct stream s = {0};
  size_t count = 0;
  fprintf(out, ",\n\"small\":{\"stacks\":%zu,\"unlabelled\":%zu",
          set->stack_count, set->unlabelled_count);
  for (size_t i = 0; i < set->count; i++)
    if (set->joined[i]) {
      stream_put(&s, i);
      stream_put(&s, set->joined[i]);
      count++;
    }
  stream_write(&s, "joined", count, out);
  small_losses_write(set->small, page, out);
  fputs("}", out);
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
  if (set->small)
    write_small(page, set, out);
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

// sources: the largest size of the source lines.
static void write_data(struct page *page, const struct page_start *start,
                       size_t sources, FILE *out) {
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
  write_whole_names(page, out);
  write_frames(page, out);
  if (page->has_small_frame)
    fprintf(out, ",\n\"smallFrame\":%" PRIu32,
            page->numbers.frames[page->small_frame]);
  write_nodes(page, out);
  write_labels(page, out);
  write_sets(page, out);
  write_list("traces", &page->traces, out);
  write_list("reports", &page->reports, out);
  write_memory_parts(out);
  fputs(",\n\"sources\":", out);
  page_write_sources(page, start->source_directory, sources, out);
  fputs("}", out);
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
    free(page->sets[i].joined);
    free(page->sets[i].unlabelled);
    small_losses_free(page->sets[i].small);
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
  free(page->whole_names.bytes);
  page_free_numbers(page);
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

// Returns the size of the objects.
static size_t list_size(const struct page_list *list) {
  size_t size = 0;
  for (size_t i = 0; i < list->count; i++)
    size += strlen(list->items[i]);
  return size;
}

// Chooses what the page has, so that it is not too large. Returns the largest
// size of the source lines.
static size_t limit_size(struct page *page, bool has_sources) {
  const size_t fixed = html_script_size + html_style_size +
                       list_size(&page->traces) + list_size(&page->reports) +
                       (has_sources ? MIN_SOURCES : 0);
  const size_t most =
      fixed + MIN_TABLES < MAX_BYTES ? MAX_BYTES - fixed : MIN_TABLES;
  const size_t size = small_stacks_cut(page, most);
  if (!has_sources)
    return 0;
  const size_t left = MIN_SOURCES + (size < most ? most - size : 0);
  return left < MAX_SOURCES ? left : MAX_SOURCES;
}

void page_write(struct page *page, const struct page_start *start, FILE *out) {
  const size_t sources = limit_size(page, start->has_sources);
  page_number(page);
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
  write_data(page, start, sources, out);
  fputs("</script>\n<script>", out);
  fwrite(html_script, 1, html_script_size, out);
  fputs("</script>\n</body>\n</html>\n", out);
  free_page(page);
}
