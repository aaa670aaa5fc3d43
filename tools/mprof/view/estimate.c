// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap profile counts a block of s bytes with the probability
// p = 1 - exp(-s/R), where R is the sample's period, and then as 1/p blocks. So
// the variance that one counted block contributes to the number of blocks is (1
// - p) / p^2. It is estimated by the sum over the counted blocks. The values of
// the file are already scaled: value = counted / p blocks, or s times as many
// bytes.

#include "view/estimate.h"

#include <math.h>
#include <string.h>

// Returns the size of the sample's blocks: the label "bytes", or 0.
static double block_size(const struct profile *p, const struct sample *s) {
  for (uint32_t i = 0; i < s->label_count; i++) {
    const struct label *l = &p->labels[s->first_label + i];
    if (strcmp(p->strings[l->key], "bytes") == 0 && l->number > 0)
      return (double)l->number;
  }
  return 0;
}

static bool is_sampled(const struct profile *p, unsigned type, int64_t period) {
  if (period <= 1 || !profile_has_heap_period(p))
    return false;
  const char *unit = p->strings[p->types[type].unit];
  return strcmp(unit, "bytes") == 0 || strcmp(unit, "count") == 0;
}

bool estimate_is_uncertain(const struct profile *p, unsigned type) {
  const char *what = p->strings[p->period_type.type];
  return strcmp(what, "contentions") == 0 ||
         strcmp(p->strings[p->types[type].unit], "nanoseconds") == 0 ||
         (p->period > 1 && !is_sampled(p, type, p->period));
}

bool estimate_is_sampled(const struct profile *p, unsigned type) {
  bool has_any = is_sampled(p, type, p->period);
  for (size_t i = 0; i < p->sample_count && !has_any; i++)
    has_any = is_sampled(p, type, p->samples[i].period);
  return has_any;
}

bool estimate_lacks_samples(const struct profile *p) {
  return p->sample_count == 0 && !p->is_truncated && p->period > 1 &&
         profile_has_heap_period(p);
}

double estimate_variance(const struct profile *p, const struct sample *s,
                         unsigned type, int64_t value) {
  if (value == 0 || !is_sampled(p, type, s->period))
    return 0;
  const double size = block_size(p, s);
  if (size <= 0)
    return 0;
  const double chance = -expm1(-size / (double)s->period);
  const bool is_bytes = strcmp(p->strings[p->types[type].unit], "bytes") == 0;
  const double weight = is_bytes ? size : 1;
  return fabs((double)value) * weight * (1 - chance) / chance;
}

double estimate_time_variance(const struct profile *p, const struct sample *s,
                              unsigned type, int64_t value) {
  const char *what = p->strings[p->period_type.type];
  const char *unit = p->strings[p->types[type].unit];
  if ((strcmp(what, "cpu") != 0 && strcmp(what, "wall") != 0) ||
      strcmp(p->strings[p->period_type.unit], "nanoseconds") != 0)
    return 0;
  if (strcmp(unit, "count") == 0)
    return fabs((double)value);
  return strcmp(unit, "nanoseconds") == 0 && s->period > 0
             ? fabs((double)value) * (double)s->period
             : 0;
}
