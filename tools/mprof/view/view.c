// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes views. The frames of a location are found once for each location, and
// then copied for each stack.

#include "view/view.h"

#include "common/memory.h"
#include "common/saturate.h"
#include "view/estimate.h"
#include "view/pattern.h"
#include "view/short_names.h"
#include "write/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The frames of a location, leaf first.
struct located {
  size_t first; // in builder.frames
  uint32_t count;
  bool is_found; // the other members are valid
  // Whether drop_frames matches a function of the location. Then the frames
  // beneath are not shown, and is_whole says whether this location's own frames
  // are not shown either. (pprof: pruneBeneath, prune)
  bool is_dropped, is_whole;
  bool is_focused, is_within, is_ignored; // a frame matches the pattern
};

struct builder {
  struct view *view;
  bool has_python; // the stacks have functions of Python
  const struct view_options *options;
  struct pattern *focus, *within, *ignore, *hide, *drop, *keep;
  struct located *located; // of each location
  unsigned char *drops;    // of each function: whether drop_frames matches
  struct function_names {
    string_id shown, plain; // see struct frame
  } *names;                 // of each function
  struct stack_frame *frames;
  size_t frame_count, frame_capacity;
  int64_t *example_values; // of each frame of the view
  size_t example_capacity;
  struct stack_frame *stack; // the stack that is being built
  size_t stack_count, stack_capacity;
};

// --- frames ---

static const char *string(const struct builder *b, string_id id) {
  return b->view->profile->strings[id];
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

static const struct mapping *mapping_of(const struct profile *p,
                                        const struct location *l) {
  return l->mapping == NO_MAPPING ? NULL : &p->mappings[l->mapping];
}

// Names a location without functions: by its file, as pprof does, or with
// GRAIN_LINES also by the offset in the file.
static string_id address_name(const struct builder *b,
                              const struct location *l) {
  char name[512];
  struct profile *p = b->view->profile;
  const struct mapping *m = mapping_of(p, l);
  const char *file = m ? base_name(p->strings[m->file]) : "";
  const bool is_jit = profile_file_is_jit(file);
  if (is_jit && b->options->grain != GRAIN_LINES)
    snprintf(name, sizeof name, JIT_FRAME);
  else if (is_jit)
    snprintf(name, sizeof name, JIT_FRAME "+0x%" PRIx64, l->address);
  else if (!*file)
    snprintf(name, sizeof name, "0x%" PRIx64, l->address);
  else if (b->options->grain == GRAIN_LINES)
    snprintf(name, sizeof name, "%.400s+0x%" PRIx64, file,
             l->address - m->start + m->offset);
  else
    snprintf(name, sizeof name, "[%.400s]", file);
  return profile_text(p, name);
}

static bool is_frame(const void *arg, uint32_t index) {
  const struct {
    const struct view *v;
    struct frame f;
  } *w = arg;
  const struct frame *f = &w->v->frames[index];
  return f->name == w->f.name && f->file == w->f.file && f->line == w->f.line &&
         f->is_std == w->f.is_std;
}

static uint32_t add_frame(struct view *v, struct frame f) {
  const struct {
    const struct view *v;
    struct frame f;
  } wanted = {v, f};
  const uint64_t key[] = {f.name, f.file, (uint64_t)f.line, f.is_std};
  const uint32_t next = (uint32_t)v->frame_count;
  const uint32_t id = intern_find(
      &v->frame_set, intern_hash(0, key, sizeof key), next, is_frame, &wanted);
  if (id == next)
    *APPEND(v->frames, v->frame_count, v->frame_capacity) = f;
  return id;
}

// Returns whether the profile has functions of Python.
static bool has_python(const struct profile *p) {
  for (size_t i = 0; i < p->mapping_count; i++)
    if (strcmp(p->strings[p->mappings[i].file], "[python]") == 0)
      return true;
  return false;
}

// Returns whether the file is CPython's interpreter. Beside functions of
// Python, those of the interpreter are like those of a standard library.
static bool is_interpreter(const char *file) {
  const char *name = base_name(file);
  return strncmp(name, "libpython3", 10) == 0 ||
         strncmp(name, "python3", 7) == 0;
}

static bool is_std(const struct builder *b, const struct location *l,
                   const struct function *f) {
  const struct profile *p = b->view->profile;
  const struct mapping *m = mapping_of(p, l);
  if (b->has_python && m && is_interpreter(p->strings[m->file]))
    return true;
  return mprof_is_std_frame(
      &(struct mprof_frame){.function = f ? p->strings[f->name] : "",
                            .file = f ? p->strings[f->file] : "",
                            .module = m ? p->strings[m->file] : "",
                            .is_library = l->mapping != 0});
}

// Adds the frame of one line of a location. f: NULL if the function is unknown.
static void put_frame(struct builder *b, const struct location *l,
                      const struct function *f, int64_t line) {
  const struct profile *p = b->view->profile;
  const bool is_known = f && f->name;
  const struct function_names *n =
      is_known ? &b->names[f - p->functions] : NULL;
  const string_id name = n ? n->shown : address_name(b, l);
  struct frame frame = {
      .name = name, .plain = n ? n->plain : name, .is_std = is_std(b, l, f)};
  if (mapping_of(p, l) && l->mapping != 0)
    frame.module = mapping_of(p, l)->file;
  const string_id file = f ? f->file : 0;
  if (b->options->grain == GRAIN_LINES) {
    frame.file = file;
    frame.line = line;
  } else if (b->options->grain == GRAIN_FILES) {
    const struct mapping *m = mapping_of(p, l);
    frame.file = file;
    frame.name = file ? file : m && m->file ? m->file : name;
    frame.plain = frame.name;
  }
  struct view *v = b->view;
  *APPEND(b->frames, b->frame_count, b->frame_capacity) =
      (struct stack_frame){add_frame(v, frame), (uint32_t)v->place_count};
  *APPEND(v->places, v->place_count, v->place_capacity) =
      (struct frame_place){file, line};
}

// --- locations ---

// Returns whether drop_frames matches the function. (pprof: Profile.prune)
static bool is_dropped(struct builder *b, uint32_t function) {
  enum drop { UNKNOWN, KEPT, DROPPED };
  unsigned char *known = &b->drops[function];
  if (*known != UNKNOWN)
    return *known == DROPPED;
  const char *name = string(b, b->names[function].plain);
  *known = *name && pattern_matches(b->drop, name) &&
                   !(b->keep && pattern_matches(b->keep, name))
               ? DROPPED
               : KEPT;
  return *known == DROPPED;
}

static bool matches(const struct builder *b, struct pattern *pattern,
                    const struct location *l, const struct function *f) {
  const struct mapping *m = mapping_of(b->view->profile, l);
  if (m && pattern_matches(pattern, string(b, m->file)))
    return true;
  if (!f)
    return false;
  const struct function_names *n = &b->names[f - b->view->profile->functions];
  return pattern_matches(pattern, string(b, n->plain)) ||
         (n->shown != n->plain &&
          pattern_matches(pattern, string(b, n->shown))) ||
         (n->plain != f->name && n->shown != f->name &&
          pattern_matches(pattern, string(b, f->name))) ||
         pattern_matches(pattern, string(b, f->file));
}

static void find_frames(struct builder *b, struct located *d,
                        const struct location *l) {
  const struct profile *p = b->view->profile;
  uint32_t begin = 0; // lines before it are dropped
  if (b->drop)
    for (uint32_t i = l->line_count; i-- > 0 && !d->is_dropped;)
      if (is_dropped(b, p->lines[l->first_line + i].function)) {
        d->is_dropped = true;
        d->is_whole = i + 1 == l->line_count;
        begin = d->is_whole ? 0 : i + 1;
      }
  d->first = b->frame_count;
  d->is_found = true;
  for (uint32_t i = begin; i < l->line_count || i == 0; i++) {
    const struct line *line =
        l->line_count ? &p->lines[l->first_line + i] : NULL;
    const struct function *f = line ? &p->functions[line->function] : NULL;
    if (!b->hide || !matches(b, b->hide, l, f))
      put_frame(b, l, f, line ? line->line : 0);
    d->is_focused |= b->focus && matches(b, b->focus, l, f);
    d->is_within |= b->within && matches(b, b->within, l, f);
    d->is_ignored |= b->ignore && matches(b, b->ignore, l, f);
  }
  d->count = (uint32_t)(b->frame_count - d->first);
}

static struct located *frames_of(struct builder *b, uint32_t location) {
  struct located *d = &b->located[location];
  if (!d->is_found)
    find_frames(b, d, &b->view->profile->locations[location]);
  return d;
}

// --- stacks ---

// Returns the index of the first location of the sample that is shown: the
// locations that drop_frames removes are left out, unless nothing would remain.
static uint32_t first_shown(struct builder *b, const struct sample *s) {
  const uint32_t *locations =
      &b->view->profile->stack_locations[s->first_location];
  bool found_user = false;
  for (uint32_t i = s->location_count; i-- > 0;) {
    const struct located *d = frames_of(b, locations[i]);
    if (!d->is_dropped)
      found_user = true;
    else if (found_user)
      return d->is_whole ? i + 1 : i;
  }
  return 0;
}

// A stack may have one location very often, and a location very many inlined
// functions. So the number of frames has a limit that grows only with the
// profile. Stacks beyond it lose their outer frames.
static bool has_room(struct builder *b) {
  const struct profile *p = b->view->profile;
  const size_t limit = 65536 + 64 * (p->stack_location_count + p->line_count);
  const bool has = b->view->stack_frame_count + b->stack_count < limit;
  b->view->losses.is_cut |= !has;
  return has;
}

// Builds the stack of the sample. Returns whether the user asked for it. A
// stack of which all frames are hidden is not shown. (pprof:
// FilterSamplesByName)
static bool build_stack(struct builder *b, const struct sample *s) {
  const uint32_t *locations =
      &b->view->profile->stack_locations[s->first_location];
  const uint32_t first = first_shown(b, s);
  bool is_focused = b->focus == NULL, is_within = b->within == NULL;
  b->stack_count = 0;
  for (uint32_t i = first; i < s->location_count; i++) {
    const struct located *d = frames_of(b, locations[i]);
    if (d->is_ignored)
      return false;
    is_focused |= d->is_focused;
    is_within |= d->is_within;
    for (uint32_t k = 0; k < d->count && has_room(b); k++)
      *APPEND(b->stack, b->stack_count, b->stack_capacity) =
          b->frames[d->first + k];
  }
  return is_focused && is_within && !(b->hide && b->stack_count == 0);
}

static bool has_label(const struct profile *p, const struct sample *s,
                      const char *wanted) {
  const char *equals = strchr(wanted, '=');
  const size_t length = equals ? (size_t)(equals - wanted) : strlen(wanted);
  for (uint32_t i = 0; i < s->label_count; i++) {
    const struct label *l = &p->labels[s->first_label + i];
    const char *key = p->strings[l->key];
    if (strncmp(key, wanted, length) != 0 || key[length])
      continue;
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, l->number);
    const char *value = l->str ? p->strings[l->str] : number;
    if (!equals || strcmp(value, equals + 1) == 0)
      return true;
  }
  return false;
}

static bool has_labels(const struct builder *b, const struct sample *s) {
  for (size_t i = 0; i < b->options->labels.count; i++)
    if (!has_label(b->view->profile, s, b->options->labels.items[i]))
      return false;
  return true;
}

// The example of a frame is the line of the stack with the largest value.
static void note_examples(struct builder *b, int64_t value) {
  struct view *v = b->view;
  const size_t before = b->example_capacity;
  b->example_values = grow(b->example_values, &b->example_capacity,
                           v->frame_count, sizeof *b->example_values);
  for (size_t i = before; i < b->example_capacity; i++)
    b->example_values[i] = -1;
  for (size_t i = 0; i < b->stack_count; i++) {
    const struct stack_frame *f = &b->stack[i];
    if (value <= b->example_values[f->frame])
      continue;
    b->example_values[f->frame] = value;
    v->frames[f->frame].example = v->places[f->place];
  }
}

static void add_stack(struct builder *b, uint32_t sample, int64_t value,
                      double variance) {
  struct view *v = b->view;
  struct view_stack *s = APPEND(v->stacks, v->stack_count, v->stack_capacity);
  *s = (struct view_stack){.first = v->stack_frame_count,
                           .count = (uint32_t)b->stack_count,
                           .sample = sample,
                           .value = value,
                           .variance = variance};
  for (size_t i = 0; i < b->stack_count; i++)
    *APPEND(v->stack_frames, v->stack_frame_count, v->stack_frame_capacity) =
        b->stack[i];
}

static void add_stacks(struct builder *b) {
  struct view *v = b->view;
  const struct profile *p = v->profile;
  for (uint32_t i = 0; i < p->sample_count; i++) {
    const struct sample *s = &p->samples[i];
    const int64_t value = p->values[(size_t)i * p->type_count + v->type];
    const int64_t size = size_of(value);
    const double variance = estimate_variance(p, s, v->type, value);
    add_to(&v->profile_total, size);
    v->profile_variance += variance;
    if ((value == 0 && !b->options->keeps_zeros) || !has_labels(b, s) ||
        !build_stack(b, s))
      continue;
    add_to(&v->total, size);
    v->variance += variance;
    note_examples(b, size);
    add_stack(b, i, value, variance);
  }
}

// --- the view ---

// Compiles the pattern if there is one. what: what the message calls it.
static bool compile(struct pattern **out, const char *text, bool is_whole,
                    const char *what, char *error, size_t size) {
  char reason[160];
  if (!text || !*text)
    return true;
  *out = pattern_new(text, is_whole, reason, sizeof reason);
  if (!*out)
    snprintf(error, size, "%s is not a regular expression: %s", what, reason);
  return *out != NULL;
}

static void list_types(const struct profile *p, const char *wanted, char *error,
                       size_t size) {
  int n =
      snprintf(error, size, "the profile has no values %.40s; it has", wanted);
  for (unsigned i = 0; i < p->type_count && n > 0 && (size_t)n < size; i++)
    n += snprintf(error + n, size - (size_t)n, "%s %s", i ? "," : "",
                  p->strings[p->types[i].type]);
}

static bool prepare(struct builder *b, char *error, size_t size) {
  const struct profile *p = b->view->profile;
  const struct view_options *o = b->options;
  // A wrong drop_frames of a file is no reason not to show the file.
  char ignored[256];
  if (p->drop_frames)
    compile(&b->drop, p->strings[p->drop_frames], true, "", ignored,
            sizeof ignored);
  if (p->keep_frames)
    compile(&b->keep, p->strings[p->keep_frames], true, "", ignored,
            sizeof ignored);
  return compile(&b->focus, o->focus, false, "--focus", error, size) &&
         compile(&b->within, o->within, false, "the text after @", error,
                 size) &&
         compile(&b->ignore, o->ignore, false, "--ignore", error, size) &&
         compile(&b->hide, o->hide, false, "--hide", error, size);
}

static void free_patterns(struct builder *b) {
  pattern_free(b->focus);
  pattern_free(b->ignore);
  pattern_free(b->hide);
  pattern_free(b->within);
  pattern_free(b->drop);
  pattern_free(b->keep);
}

static bool choose_type(struct view *v, const char *wanted, char *error,
                        size_t size) {
  const struct profile *p = v->profile;
  const int type =
      wanted ? profile_find_type(p, wanted) : (int)profile_default_type(p);
  if (type < 0) {
    list_types(p, wanted, error, size);
    return false;
  }
  v->type = (unsigned)type;
  v->type_name = p->strings[p->types[type].type];
  v->unit = p->strings[p->types[type].unit];
  return true;
}

// Chooses the names of all functions.
static void name_functions(struct builder *b) {
  struct profile *p = b->view->profile;
  struct short_names *given = b->options->names;
  const struct profile *all[] = {p};
  struct short_names *n = given ? given : short_names_new(all, 1);
  b->names = zeroed(p->function_count, sizeof *b->names);
  for (size_t i = 0; i < p->function_count; i++) {
    const string_id full = p->functions[i].name;
    b->names[i].plain = profile_text(p, short_names_plain(n, p->strings[full]));
    b->names[i].shown =
        b->options->has_full_names
            ? full
            : profile_text(p, short_names_unique(n, p->strings[full]));
  }
  if (!given)
    short_names_free(n);
}

struct view *view_new(struct profile *p, const struct view_options *options,
                      char *error, size_t size) {
  struct view *v = zeroed(1, sizeof *v);
  struct builder b = {
      .view = v, .options = options, .has_python = has_python(p)};
  v->profile = p;
  v->has_full_names = options->has_full_names;
  v->stack_frames = grow(NULL, &v->stack_frame_capacity, 1,
                         sizeof *v->stack_frames); // not NULL if empty
  if (!choose_type(v, options->type, error, size) ||
      !prepare(&b, error, size)) {
    free_patterns(&b);
    view_free(v);
    return NULL;
  }
  b.located = zeroed(p->location_count, sizeof *b.located);
  b.drops = zeroed(p->function_count, 1);
  name_functions(&b);
  add_stacks(&b);
  free(b.located);
  free(b.drops);
  free(b.names);
  free(b.frames);
  free(b.example_values);
  free(b.stack);
  v->losses.uncompared = pattern_failures(b.focus) +
                         pattern_failures(b.ignore) + pattern_failures(b.hide) +
                         pattern_failures(b.within);
  v->losses.undropped = pattern_failures(b.drop) + pattern_failures(b.keep);
  free_patterns(&b);
  return v;
}

void view_free(struct view *v) {
  free(v->frames);
  free(v->stack_frames);
  free(v->places);
  free(v->stacks);
  intern_free(&v->frame_set);
  free(v);
}
