// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "terminal/quantity.h"

#include "sys/message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A unit in which numbers of at least `from` are shown.
struct scale {
  double from;
  const char *name;
};

static const struct scale byte_scales[] = {
    {0x1p60, "EiB"}, {0x1p50, "PiB"}, {0x1p40, "TiB"}, {0x1p30, "GiB"},
    {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}};
static const struct scale time_scales[] = {{3.6e12, "h"}, {60e9, "min"},
                                           {1e9, "s"},    {1e6, "ms"},
                                           {1e3, "us"},   {1, "ns"}};
static const struct scale count_scale[] = {{1, ""}};

static const struct scale *scales_of(const char *unit) {
  if (strcmp(unit, "bytes") == 0)
    return byte_scales;
  if (strcmp(unit, "nanoseconds") == 0)
    return time_scales;
  return count_scale;
}

// Returns the scale in which the number has 1 to 3 digits before the point.
// 0.9995 and more would be shown as 1,000, so the next scale is taken there.
static const struct scale *scale_of(double size, const char *unit) {
  const struct scale *s = scales_of(unit);
  while (s->from > 1 && size < s->from * 0.9995)
    s++;
  return s;
}

static void put_whole(struct mprof_text *t, double value) {
  if (value < 0)
    mprof_text_str(t, "-");
  mprof_text_grouped(t, (uint64_t)fmin(fabs(value) + 0.5, 1.8e19));
}

// Appends a number in the scale: whole numbers in the smallest scale, three
// significant digits in the others.
static void put_scaled(struct mprof_text *t, double value,
                       const struct scale *s) {
  if (s->from == 1) {
    put_whole(t, value);
    return;
  }
  const double scaled = value / s->from;
  const double size = fabs(scaled);
  char digits[32];
  snprintf(digits, sizeof digits, "%.*f",
           size < 9.995   ? 2
           : size < 99.95 ? 1
                          : 0,
           scaled);
  mprof_text_str(t, digits);
}

// Other producers have units such as "microseconds" and "samples".
static void put_unit(struct mprof_text *t, const struct scale *s,
                     const char *unit) {
  const char *name = s != count_scale             ? s->name
                     : strcmp(unit, "count") != 0 ? unit
                                                  : "";
  if (*name) {
    mprof_text_str(t, " ");
    mprof_text_clean(t, name, strnlen(name, 16));
  }
}

struct quantity quantity_of(int64_t value, const char *unit) {
  struct quantity q;
  struct mprof_text t = MPROF_TEXT(q.text);
  const struct scale *s = scale_of(fabs((double)value), unit);
  put_scaled(&t, (double)value, s);
  put_unit(&t, s, unit);
  return q;
}

struct quantity quantity_with_error(int64_t value, double variance,
                                    const char *unit, int has_utf8) {
  if (variance <= 0)
    return quantity_of(value, unit);
  struct quantity q;
  struct mprof_text t = MPROF_TEXT(q.text);
  const double error = sqrt(variance);
  const struct scale *s = scale_of(fmax(fabs((double)value), error), unit);
  put_scaled(&t, (double)value, s);
  mprof_text_str(&t, has_utf8 ? " \u00b1 " : " +- ");
  put_scaled(&t, error, s);
  put_unit(&t, s, unit);
  return q;
}

int64_t quantity_round(double value) {
  return value >= 0x1p63    ? INT64_MAX
         : value <= -0x1p63 ? INT64_MIN
                            : (int64_t)llround(value);
}

struct quantity quantity_share(int64_t part, int64_t whole) {
  struct quantity q;
  const double share = whole ? 100.0 * (double)part / (double)whole : 0;
  snprintf(q.text, sizeof q.text, "%.*f %%",
           fabs(share) < 9.95 && share != 0 ? 1 : 0, share);
  return q;
}
