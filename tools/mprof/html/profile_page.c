// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds profiles to a page. The stacks come from views, so that the page shows
// what the other commands show. There is one view for each grain.

#include "common/memory.h"
#include "html/page.h"
#include "html/page_data.h"
#include "view/short_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint32_t page_text(struct page *page, const char *text) {
  return profile_text(page->texts, text);
}

static bool is_function(const void *arg, uint32_t index) {
  const struct {
    const struct page_function *table;
    struct page_function f;
  } *w = arg;
  const struct page_function *f = &w->table[index];
  return f->name == w->f.name && f->file == w->f.file && f->line == w->f.line &&
         f->is_std == w->f.is_std;
}

uint32_t page_function_of(struct page *page, unsigned grain,
                          struct page_function f) {
  const struct {
    const struct page_function *table;
    struct page_function f;
  } wanted = {page->functions[grain], f};
  const uint64_t key[] = {f.name, f.file, (uint64_t)f.line, f.is_std};
  const uint32_t next = (uint32_t)page->function_count[grain];
  const uint32_t id =
      intern_find(&page->function_sets[grain], intern_hash(0, key, sizeof key),
                  next, is_function, &wanted);
  if (id == next)
    *APPEND(page->functions[grain], page->function_count[grain],
            page->function_capacity[grain]) = f;
  return id;
}

static bool is_frame(const void *arg, uint32_t index) {
  const struct {
    const struct page *page;
    const struct page_frame *f;
  } *w = arg;
  return memcmp(&w->page->frames[index], w->f, sizeof *w->f) == 0;
}

uint32_t page_frame_of(struct page *page, const struct page_frame *f) {
  const struct {
    const struct page *page;
    const struct page_frame *f;
  } wanted = {page, f};
  const uint32_t next = (uint32_t)page->frame_count;
  const uint32_t id = intern_find(
      &page->frame_set, intern_hash(0, f, sizeof *f), next, is_frame, &wanted);
  if (id == next)
    *APPEND(page->frames, page->frame_count, page->frame_capacity) = *f;
  return id;
}

static bool is_node(const void *arg, uint32_t index) {
  const struct {
    const struct page *page;
    uint32_t parent, frame;
  } *w = arg;
  const struct page_node *n = &w->page->nodes[index + 1];
  return n->parent == w->parent && n->frame == w->frame;
}

uint32_t page_node_of(struct page *page, uint32_t parent, uint32_t frame) {
  const struct {
    const struct page *page;
    uint32_t parent, frame;
  } wanted = {page, parent, frame};
  const uint32_t key[] = {parent, frame};
  const uint32_t next = (uint32_t)page->node_count - 1;
  const uint32_t id =
      intern_find(&page->node_set, intern_hash(0, key, sizeof key), next,
                  is_node, &wanted) +
      1;
  if (id == next + 1) {
    *APPEND(page->nodes, page->node_count, page->node_capacity) =
        (struct page_node){.parent = parent, .frame = frame};
    struct page_node *up = &page->nodes[parent];
    if (up->first_child)
      page->nodes[up->last_child].next_sibling = id;
    else
      up->first_child = id;
    up->last_child = id;
  }
  return id;
}

// --- labels ---

static bool is_label_set(const void *arg, uint32_t index) {
  const struct {
    const struct page *page;
    const struct page_label *labels;
    uint32_t count;
  } *w = arg;
  const struct page_labels *l = &w->page->label_sets[index];
  // Without labels, the tables may be NULL.
  return l->count == w->count &&
         (w->count == 0 || memcmp(&w->page->labels[l->first], w->labels,
                                  w->count * sizeof *w->labels) == 0);
}

static uint32_t label_value(struct page *page, const struct profile *p,
                            const struct label *l) {
  char number[24];
  snprintf(number, sizeof number, "%" PRId64, l->number);
  return page_text(page, l->str ? p->strings[l->str] : number);
}

// The new labels are at the end of page.labels. They are dropped if there is an
// equal set.
static uint32_t add_labels(struct page *page, const struct profile *p,
                           const struct sample *s) {
  const size_t first = page->label_count;
  for (uint32_t i = 0; i < s->label_count; i++) {
    const struct label *l = &p->labels[s->first_label + i];
    const struct page_label label = {page_text(page, p->strings[l->key]),
                                     label_value(page, p, l)};
    *APPEND(page->labels, page->label_count, page->label_capacity) = label;
  }
  if (s->period != p->period && profile_has_heap_period(p)) {
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, s->period > 1 ? s->period : 1);
    *APPEND(page->labels, page->label_count, page->label_capacity) =
        (struct page_label){page_text(page, p->strings[HEAP_RATE]),
                            page_text(page, number)};
  }
  const uint32_t count = (uint32_t)(page->label_count - first);
  static const struct page_label none;
  const struct {
    const struct page *page;
    const struct page_label *labels;
    uint32_t count;
  } wanted = {page, count ? &page->labels[first] : &none, count};
  const uint32_t next = (uint32_t)page->label_set_count;
  const uint32_t id = intern_find(
      &page->label_set_set,
      intern_hash(0, wanted.labels, wanted.count * sizeof *wanted.labels), next,
      is_label_set, &wanted);
  if (id == next)
    *APPEND(page->label_sets, page->label_set_count, page->label_set_capacity) =
        (struct page_labels){first, count};
  else
    page->label_count = first;
  return id;
}

// --- stacks ---

// The views of a profile by function, line and file. Their stacks have the same
// samples and the same number of frames.
struct views {
  struct view *views[GRAINS];
  uint32_t
      *functions[GRAINS]; // of each frame of a view: its number in the page
};

// Stores the whole name of a function as texts that end with punctuation,
// because names of templates repeat them: whole, they would be a third of a
// page.
static void add_whole_name(struct page *page, struct short_names *names,
                           const char *shown) {
  static const char ends[] = "<>,(";
  const char *whole = short_names_whole(names, shown);
  if (strcmp(whole, shown) == 0)
    return;
  stream_put(&page->whole_names, page_text(page, shown));
  while (*whole) {
    size_t length = strcspn(whole, ends);
    length += strspn(whole + length, ends);
    stream_put(&page->whole_names, profile_string(page->texts, whole, length));
    whole += length;
  }
  stream_put(&page->whole_names, 0); // text 0 is ""
  page->whole_name_count++;
}

static uint32_t *add_functions(struct page *page, unsigned grain,
                               struct short_names *names,
                               const struct view *v) {
  uint32_t *numbers = zeroed(v->frame_count, sizeof *numbers);
  for (size_t i = 0; i < v->frame_count; i++) {
    const struct frame *f = &v->frames[i];
    const char *module = v->profile->strings[f->module];
    const size_t before = page->function_count[grain];
    numbers[i] = page_function_of(
        page, grain,
        (struct page_function){page_text(page, v->profile->strings[f->name]),
                               page_text(page, v->profile->strings[f->file]),
                               f->line, f->is_std,
                               page_text(page, basename(module))});
    // Lines have the names of functions.
    if (grain == GRAIN_FUNCTIONS && page->function_count[grain] > before)
      add_whole_name(page, names, v->profile->strings[f->name]);
  }
  return numbers;
}

static bool make_views(struct page *page, struct views *v, struct profile *p,
                       const struct view_options *options, char *error,
                       size_t size) {
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    struct view_options wanted = *options;
    wanted.grain = grain;
    wanted.type = NULL;
    wanted.keeps_zeros = true;
    v->views[grain] = view_new(p, &wanted, error, size);
    if (!v->views[grain])
      return false;
    v->functions[grain] =
        add_functions(page, grain, options->names, v->views[grain]);
  }
  return true;
}

static uint32_t add_stack(struct page *page, const struct views *v, size_t i) {
  const struct view_stack *s = &v->views[0]->stacks[i];
  uint32_t node = 0;
  for (uint32_t k = s->count; k-- > 0;) {
    struct page_frame frame;
    for (unsigned grain = 0; grain < GRAINS; grain++)
      frame.functions[grain] =
          v->functions[grain]
                      [v->views[grain]->stack_frames[s->first + k].frame];
    node = page_node_of(page, node, page_frame_of(page, &frame));
  }
  return node;
}

bool page_add_profile(struct page *page, struct profile *p, const char *kind,
                      const char *name, enum page_role role,
                      const struct view_options *options,
                      char *(*losses)(const struct view *v), char *error,
                      size_t size) {
  struct views v = {0};
  const bool is_made = make_views(page, &v, p, options, error, size);
  const size_t count = is_made ? v.views[0]->stack_count : 0;
  struct page_set set = {
      .profile = p, .kind = kind, .name = name, .role = role};
  // The views of all grains have the same frames and compare the same names.
  set.lost = is_made ? losses(v.views[0]) : NULL;
  set.nodes = zeroed(count, sizeof *set.nodes);
  set.samples = zeroed(count, sizeof *set.samples);
  set.label_sets = zeroed(count, sizeof *set.label_sets);
  set.values = zeroed(count * p->type_count, sizeof *set.values);
  set.count = count;
  for (size_t i = 0; i < count; i++) {
    const uint32_t sample = v.views[0]->stacks[i].sample;
    set.samples[i] = sample;
    set.nodes[i] = add_stack(page, &v, i);
    set.label_sets[i] = add_labels(page, p, &p->samples[sample]);
    memcpy(&set.values[i * p->type_count],
           &p->values[(size_t)sample * p->type_count],
           p->type_count * sizeof *set.values);
  }
  if (is_made) {
    *APPEND(page->sets, page->set_count, page->set_capacity) = set;
  } else {
    free(set.nodes);
    free(set.samples);
    free(set.label_sets);
    free(set.values);
  }
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    free(v.functions[grain]);
    if (v.views[grain])
      view_free(v.views[grain]);
  }
  return is_made;
}
