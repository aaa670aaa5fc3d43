// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compare/sides.h"

#include "common/memory.h"
#include "view/estimate.h"

#include <stdlib.h>
#include <string.h>

struct sides *sides_new(void) {
  struct sides *s = zeroed(1, sizeof *s);
  s->profile = profile_new();
  return s;
}

const char *sides_read(struct sides *s, unsigned side, const char *path,
                       sides_reader *reader) {
  struct profile *p = s->profile;
  if (s->side[side].count == 0)
    s->side[side].first_comment = p->comment_count;
  const char *error = reader(p, path);
  if (error)
    return error;
  struct side *to = &s->side[side];
  struct side_file *f = APPEND(to->files, to->count, to->capacity);
  *f = (struct side_file){.values = zeroed(p->value_count, sizeof *f->values),
                          .value_count = p->value_count};
  if (p->value_count)
    memcpy(f->values, p->values, p->value_count * sizeof *f->values);
  for (size_t i = 0; i < p->value_count; i++)
    p->values[i] = 0;
  return NULL;
}

void sides_finish(struct sides *s) {
  struct profile *p = s->profile;
  const struct side *side = &s->side[NEW];
  for (size_t k = 0; k < side->count; k++)
    for (size_t i = 0; i < side->files[k].value_count; i++)
      if (__builtin_add_overflow(p->values[i], side->files[k].values[i],
                                 &p->values[i]))
        p->values[i] = side->files[k].values[i] < 0 ? INT64_MIN : INT64_MAX;
}

bool sides_lack_error(const struct sides *s, unsigned type) {
  if (s->side[OLD].count > 1 && s->side[NEW].count > 1)
    return false;
  return estimate_is_uncertain(s->profile, type);
}

struct view_options sides_view_options(struct view_options options) {
  options.keeps_zeros = true;
  return options;
}

// Adds the value of a stack in one file to a sum.
static void add(const struct side_file *f, const struct profile *p,
                unsigned type, const struct view_stack *k,
                struct estimate *sum) {
  const size_t index = (size_t)k->sample * p->type_count + type;
  if (index >= f->value_count)
    return;
  const int64_t value = f->values[index];
  sum->value += (double)value;
  const struct sample *sample = &p->samples[k->sample];
  sum->variance += estimate_variance(p, sample, type, value) +
                   estimate_time_variance(p, sample, type, value);
}

// Makes the sum over n files the mean.
static struct estimate mean_of(struct estimate sum, size_t n) {
  sum.files = n;
  if (n == 0)
    return sum;
  sum.value /= (double)n;
  sum.variance /= (double)n * (double)n;
  return sum;
}

struct estimate sides_value(const struct sides *s, unsigned side, unsigned type,
                            const struct view_stack *k) {
  const struct side *from = &s->side[side];
  struct estimate sum = {0};
  for (size_t i = 0; i < from->count; i++)
    add(&from->files[i], s->profile, type, k, &sum);
  return mean_of(sum, s->adds_up && from->count ? 1 : from->count);
}

struct estimate sides_total(const struct sides *s, unsigned side,
                            const struct view *v) {
  const struct side *from = &s->side[side];
  const size_t n = from->count;
  double *totals = zeroed(n, sizeof *totals);
  struct estimate sum = {0};
  for (size_t i = 0; i < n; i++) {
    struct estimate file = {0};
    for (size_t k = 0; k < v->stack_count; k++)
      add(&from->files[i], s->profile, v->type, &v->stacks[k], &file);
    totals[i] = file.value;
    sum.value += file.value;
    sum.variance += file.variance;
  }
  struct estimate mean = mean_of(sum, n);
  for (size_t i = 0; i < n && n > 1; i++) {
    const double d = totals[i] - mean.value;
    mean.spread += d * d / (double)(n - 1) / (double)n;
  }
  free(totals);
  return mean;
}
