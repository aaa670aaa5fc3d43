// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/input.h"

#include "commands/add_names.h"
#include "common/memory.h"
#include "common/plural.h"
#include "common/saturate.h"
#include "files/shown_path.h"
#include "sys/message.h"
#include "terminal/pager.h"
#include "terminal/quantity.h"
#include "view/estimate.h"
#include "view/memory_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct profile *input_read(const struct options *options, char *const *files,
                           int count) {
  struct profile *p = profile_new();
  for (int i = 0; i < count; i++) {
    const char *error = input_file_read(p, files[i]);
    if (error) {
      complain(options, "%s: %s", shown_path(files[i]), error);
      return NULL;
    }
  }
  if (p->moment_count && p->moment_count < p->file_count && !memory_is(p)) {
    complain(options, "the profile of the peak and other heap profiles cannot "
                      "be added up; give files of one kind, such as "
                      "*.heap.pb.gz");
    return NULL;
  }
  if (input_file_had_bundle())
    add_names(options, p, NAMES_AUTOMATIC);
  return p;
}

bool input_is_pipe(const char *path) {
  struct stat s;
  return strcmp(path, "-") == 0 ||
         (stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode));
}

struct view_options input_view_options(const struct options *o) {
  return (struct view_options){.type = o->sample,
                               .focus = o->focus,
                               .ignore = o->ignore,
                               .hide = o->hide,
                               .labels = o->labels,
                               .grain = o->lines   ? GRAIN_LINES
                                        : o->files ? GRAIN_FILES
                                                   : GRAIN_FUNCTIONS,
                               .has_full_names = o->full_names};
}

struct view *input_view_or_other(struct profile *p, struct view_options wanted,
                                 char *error, size_t size) {
  struct view *v = view_new(p, &wanted, error, size);
  const char *empty = v ? v->type_name : NULL,
             *other = v && !wanted.type ? input_other_type(v) : NULL;
  if (!other)
    return v;
  view_free(v);
  wanted.type = other;
  v = view_new(p, &wanted, error, size);
  if (v)
    v->empty_type = empty;
  return v;
}

static struct view *view_of(const struct options *options,
                            bool may_show_other) {
  if (options->lines + options->functions + options->files > 1) {
    complain(options, "--functions, --lines and --files exclude each other");
    return NULL;
  }
  if (!add_names_check(options))
    return NULL;
  struct profile *p = input_read(options, options->paths, options->path_count);
  if (!p)
    return NULL;
  add_names(options, p, NAMES_AUTOMATIC);
  const struct view_options wanted = input_view_options(options);
  char error[256];
  struct view *v = may_show_other
                       ? input_view_or_other(p, wanted, error, sizeof error)
                       : view_new(p, &wanted, error, sizeof error);
  if (!v)
    complain(options, "%s", error);
  return v;
}

struct view *input_view(const struct options *options) {
  return view_of(options, false);
}

struct view *input_view_of_values(const struct options *options) {
  const bool is_md = option_is(options->format, "md");
  struct view *v = view_of(options, !options->format || is_md ||
                                        option_is(options->format, "text"));
  if (v && v->empty_type && is_md) // no title says so
    complain(options, "note: %s is 0, so these are the values of %s",
             v->empty_type, v->type_name);
  return v;
}

bool input_count(const struct options *options, size_t *count) {
  *count = 20;
  return option_number(options, "count", options->count, 0, SIZE_MAX, count);
}

const char *input_comment_from(const struct profile *p, const char *name,
                               size_t first) {
  const size_t length = strlen(name);
  for (size_t i = first; i < p->comment_count; i++) {
    const char *text = p->strings[p->comments[i]];
    if (strncmp(text, name, length) == 0 &&
        strncmp(text + length, ": ", 2) == 0)
      return text + length + 2;
  }
  return NULL;
}

const char *input_comment(const struct profile *p, const char *name) {
  return input_comment_from(p, name, 0);
}

// The block profile and the mutex profile have the same value types. MProf
// writes the option that switched the profile on as a comment.
const char *input_kind(const struct profile *p, const char *path) {
  const char *slash = strrchr(path, '/');
  if (memory_is(p))
    return "memory";
  if (strcmp(p->strings[p->period_type.type], "mmap") == 0)
    return "mmap";
  if (profile_find_type(p, "inuse_space") >= 0 ||
      profile_find_type(p, "alloc_space") >= 0) {
    const char *moment = input_comment(p, "moment");
    return !moment                                  ? "heap"
           : strncmp(moment, "the peak", 8) == 0    ? "peak"
           : strcmp(moment, "the end of main") == 0 ? "main"
                                                    : "heap";
  }
  if (profile_find_type(p, "held_waiting") >= 0)
    return "locks";
  if (profile_find_type(p, "contentions") >= 0) {
    const bool is_block = input_comment(p, "block_rate") != NULL;
    const bool is_mutex = input_comment(p, "mutex_fraction") != NULL;
    if (is_mutex != is_block)
      return is_mutex ? "mutex" : "block";
    return strstr(slash ? slash : path, "mutex") ? "mutex" : "block";
  }
  return p->strings[p->types[profile_default_type(p)].type];
}

struct style input_begin_output(const struct options *options) {
  const struct style style = style_of_output(options->colour);
  if (!options->no_pager)
    pager_start();
  return style;
}

// Says that only a part of the waits was counted. Values of such profiles are
// estimates, but the file lacks the number of waits that an error needs.
static void print_wait_rate(const struct profile *p, FILE *out) {
  const char *block = input_comment(p, "block_rate");
  const char *mutex = input_comment(p, "mutex_fraction");
  if (p->file_count == 1 && mutex && strtoull(mutex, NULL, 10) > 1)
    fprintf(out, ", sampled, 1 of %llu", strtoull(mutex, NULL, 10));
  if (p->file_count == 1 && block && strtoull(block, NULL, 10) > 1)
    fprintf(out, ", sampled, 1 for each %llu ns of waiting",
            strtoull(block, NULL, 10));
}

void input_print_title(const struct view *v, FILE *out,
                       const struct style *style) {
  const struct profile *p = v->profile;
  const char *command = input_comment(p, "command");
  if (v->empty_type) {
    style_put(out, v->empty_type);
    fputs(" is 0, so these are the values of ", out);
    style_put(out, v->type_name);
    fputs(":\n", out);
  }
  if (style->has_colour)
    fputs("\033[2m", out);
  style_put(out, v->type_name);
  if (command) {
    fputs(" of ", out);
    style_put_cut(out, command, 60);
  }
  // The block and the mutex profile have the same values.
  if (p->file_count == 1 && input_comment(p, "block_rate"))
    fputs(", block profile: who waited", out);
  const bool is_locks = profile_find_type(p, "held_waiting") >= 0;
  if (is_locks)
    fputs(", locks profile: who waited for whom", out);
  else if (p->file_count == 1 && input_comment(p, "mutex_fraction"))
    fputs(", mutex profile: who let others wait", out);
  print_wait_rate(p, out);
  const char *moment = input_comment(p, "moment");
  if (moment && p->file_count == 1) {
    fputs(", at ", out);
    style_put_cut(out, moment, 80);
  }
  const char *live = input_comment(p, "live_threads");
  if (live && p->file_count == 1) {
    fputs(", of which ", out);
    style_put_cut(out, live, 20);
    fputs(" live", out);
  }
  if (p->file_count > 1)
    fprintf(out, ", %u files", p->file_count);
  else if (p->time_ns > 0) {
    char buffer[32];
    struct mprof_text t = MPROF_TEXT(buffer);
    mprof_text_utc(&t, p->time_ns, false);
    fprintf(out, ", %s", buffer);
  }
  if (style->has_colour)
    fputs("\033[0m", out);
  fputc('\n', out);
}

// The names of the counters that count lost data.
static const char *const losses[] = {
#define MPROF_STAT(Name, Loss, Text) (Loss) ? #Name : NULL,
#include "sys/stats.def"
};

// The losses that lie in the stacks of one kind of profile only, and the type
// of this kind's period. Each file of a process has the counters of the whole
// process, so the others would seem to have these losses, too.
static const struct {
  const char *loss, *period_type;
} losses_of_kinds[] = {{"truncated_chain", "space"},
                       {"truncated_depth", "space"},
                       {"truncated_waits", "contentions"}};

// Returns whether the loss can be one of this profile.
static bool concerns(const struct profile *p, const char *name) {
  for (size_t i = 0; i < sizeof losses_of_kinds / sizeof *losses_of_kinds; i++)
    if (strcmp(losses_of_kinds[i].loss, name) == 0)
      return strcmp(p->strings[p->period_type.type],
                    losses_of_kinds[i].period_type) == 0;
  return true;
}

static bool says_once;

void input_say_losses_once(void) { says_once = true; }

// Returns whether the text was printed before, if each is printed only once.
static bool is_repeated(const char *text) {
  static struct {
    char **items;
    size_t count, capacity;
  } printed;
  for (size_t i = 0; i < printed.count; i++)
    if (strcmp(printed.items[i], text) == 0)
      return true;
  if (says_once)
    *APPEND(printed.items, printed.count, printed.capacity) = strdup(text);
  return false;
}

// Prints each comment "NAME: TEXT". There are several if files were merged.
static bool print_loss(const struct profile *p, const char *name, FILE *out) {
  const size_t length = strlen(name);
  bool has_any = false;
  if (!concerns(p, name))
    return false;
  for (size_t i = 0; i < p->comment_count; i++) {
    const char *text = p->strings[p->comments[i]];
    if (strncmp(text, name, length) != 0 ||
        strncmp(text + length, ": ", 2) != 0 || is_repeated(text))
      continue;
    fputs("lost: ", out);
    style_put(out, text + length + 2);
    fputc('\n', out);
    has_any = true;
  }
  return has_any;
}

bool input_print_losses(const struct profile *p, FILE *out) {
  bool has_any = p->is_truncated;
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
    has_any |= losses[i] && print_loss(p, losses[i], out);
  if (p->is_truncated)
    fputs("lost: the file ends too early, so samples or names are missing\n",
          out);
  return has_any;
}

static void print_uncompared(unsigned long count, const char *with, FILE *out) {
  if (count)
    fprintf(out,
            "lost: %lu name%s not compared with %s, because the expression "
            "takes too many steps\n",
            count, count == 1 ? " was" : "s were", with);
}

void input_print_view_losses(const struct view *v, FILE *out) {
  const struct view_losses *l = &v->losses;
  if (l->is_cut)
    fputs("lost: outer frames of stacks, because the profile has too many "
          "frames\n",
          out);
  print_uncompared(l->uncompared, "the regular expressions of the options",
                   out);
  print_uncompared(l->undropped, "drop_frames or keep_frames of the profile",
                   out);
  input_print_losses(v->profile, out);
}

char *input_losses(const struct view *v) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return strdup("");
  input_print_view_losses(v, out);
  fclose(out);
  return text;
}

const char *input_other_type(const struct view *v) {
  const struct profile *p = v->profile;
  for (unsigned i = p->type_count; i-- > 0 && v->profile_total == 0;) {
    if (p->types[i].unit != p->types[v->type].unit)
      continue;
    for (size_t k = 0; k < p->sample_count; k++)
      if (p->values[k * p->type_count + i] != 0)
        return p->strings[p->types[i].type];
  }
  return NULL;
}

static bool has_label(const struct profile *p, const struct sample *s,
                      const char *key) {
  for (uint32_t i = 0; i < s->label_count; i++) {
    const char *name = p->strings[p->labels[s->first_label + i].key];
    if (key ? strcmp(name, key) == 0 : strcmp(name, "bytes") != 0)
      return true;
  }
  return false;
}

const char *input_labelled_type(const struct view *v, const char *key) {
  const struct profile *p = v->profile;
  for (unsigned i = p->type_count; i-- > 0;) {
    if (i == v->type || p->types[i].unit != p->types[v->type].unit)
      continue;
    for (size_t k = 0; k < p->sample_count; k++)
      if (p->values[k * p->type_count + i] != 0 &&
          has_label(p, &p->samples[k], key))
        return p->strings[p->types[i].type];
  }
  return NULL;
}

// Returns the sum of the values with their signs.
static int64_t net_of(const struct view *v) {
  int64_t net = 0;
  for (size_t i = 0; i < v->stack_count; i++)
    add_to(&net, v->stacks[i].value);
  return net;
}

void input_print_end(const struct view *v, FILE *out, const struct style *style,
                     size_t shown, size_t all, const char *what,
                     const char *how) {
  const struct quantity sum =
      quantity_with_error(v->total, v->variance, v->unit, style->has_utf8);
  const int64_t net = net_of(v);
  fprintf(out, "\n%s in total", sum.text);
  // For example, the difference of two profiles has negative values.
  if (net != v->total)
    fprintf(out, " of absolute values, %s net", quantity_of(net, v->unit).text);
  if (v->total != v->profile_total)
    fprintf(out, ", %s of the profile's %s",
            quantity_share(v->total, v->profile_total).text,
            quantity_of(v->profile_total, v->unit).text);
  if (shown < all)
    fprintf(out, "; %zu of %zu %s %s shown (%s shows all)", shown, all, what,
            is_or_are(shown), how);
  fputc('\n', out);
  if (v->stack_count == 0 && v->profile_total != 0)
    fputs("no stack matches the options; mprof traces without options shows "
          "all stacks\n",
          out);
  if (estimate_lacks_samples(v->profile))
    fputs("no block was sampled; mprof run " HEAP_RATE_OF_ALL "\n", out);
  const char *other = input_other_type(v);
  if (other) {
    fputs("to see the values that are not 0, use --sample=", out);
    style_put(out, other);
    fputc('\n', out);
  }
  input_print_view_losses(v, out);
}
