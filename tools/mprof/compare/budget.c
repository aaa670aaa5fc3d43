// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compare/budget.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct unit {
  const char *name, *measures;
  double factor;
} units[] = {
    {"B", "bytes", 1},
    {"kB", "bytes", 1e3},
    {"MB", "bytes", 1e6},
    {"GB", "bytes", 1e9},
    {"KiB", "bytes", 0x1p10},
    {"MiB", "bytes", 0x1p20},
    {"GiB", "bytes", 0x1p30},
    {"TiB", "bytes", 0x1p40},
    {"ns", "nanoseconds", 1},
    {"us", "nanoseconds", 1e3},
    {"ms", "nanoseconds", 1e6},
    {"s", "nanoseconds", 1e9},
    {"min", "nanoseconds", 60e9},
    {"h", "nanoseconds", 3600e9},
};

static const char *skip_spaces(const char *s) { return s + strspn(s, " \t"); }

static bool fail(char *error, size_t size, const char *text,
                 const char *reason) {
  snprintf(error, size, "--fail-if '%.80s': %s", text, reason);
  return false;
}

// Reads the value type and the operator. Moves *at behind them.
static bool parse_type(const char **at, struct budget *b, char *error,
                       size_t size) {
  const char *begin = skip_spaces(*at);
  const size_t length = strcspn(begin, " \t<>=!@");
  const char *op = skip_spaces(begin + length);
  if (*op != '>' || op[1] == '=')
    return fail(error, size, b->text,
                *op == '\0' ? "there is no '>'; write the budget in "
                              "quotation marks, such as "
                              "'alloc_space>+5%'"
                            : "the only operator is '>'");
  if (length == 0 || length >= sizeof b->type)
    return fail(error, size, b->text,
                "a value type must stand before '>', such as alloc_space");
  memcpy(b->type, begin, length);
  b->type[length] = '\0';
  *at = skip_spaces(op + 1);
  return true;
}

// Reads the unit, which ends at a space, '@' or the end.
static bool parse_unit(const char **at, struct budget *b, bool has_sign,
                       char *error, size_t size) {
  const char *begin = skip_spaces(*at);
  const size_t length = strcspn(begin, " \t@");
  *at = skip_spaces(begin + length);
  b->kind = has_sign ? BUDGET_GROWTH : BUDGET_VALUE;
  if (length == 0)
    return true;
  if (length == 1 && *begin == '%') {
    b->kind = BUDGET_PERCENT;
    b->amount /= 100;
    return has_sign || fail(error, size, b->text,
                            "a growth in percent needs a sign, such as +5%");
  }
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strlen(units[i].name) == length &&
        strncmp(units[i].name, begin, length) == 0) {
      b->unit = units[i].measures;
      b->amount *= units[i].factor;
      return true;
    }
  return fail(error, size, b->text,
              "the unit is not %, B, kB, MB, GB, KiB, MiB, GiB, TiB, ns, us, "
              "ms, s, min or h");
}

bool budget_parse(const char *text, struct budget *out, char *error,
                  size_t size) {
  *out = (struct budget){.text = text};
  const char *at = text;
  if (!parse_type(&at, out, error, size))
    return false;
  const bool is_negative = *at == '-', has_sign = is_negative || *at == '+';
  at = skip_spaces(at + has_sign);
  // strtod would also read "inf", "nan", "1e9" and "0x1".
  const size_t digits = strspn(at, "0123456789.");
  const char *point = memchr(at, '.', digits);
  if (digits == 0 || digits > 30 || (digits == 1 && point) ||
      (point && memchr(point + 1, '.', digits - (size_t)(point + 1 - at))))
    return fail(error, size, text,
                "a number must follow '>', such as +5%, +10MiB or 0");
  char number[32];
  memcpy(number, at, digits);
  number[digits] = '\0';
  out->amount = strtod(number, NULL);
  if (is_negative)
    out->amount = -out->amount;
  at += digits;
  if (!parse_unit(&at, out, has_sign, error, size))
    return false;
  if (*at == '\0')
    return true;
  out->pattern = skip_spaces(at + 1);
  if (*at != '@' || !*out->pattern)
    return fail(error, size, text,
                "only @ and a regular expression can follow the amount");
  return true;
}

bool budget_check_unit(const struct budget *b, const char *unit, char *error,
                       size_t size) {
  if (!b->unit || strcmp(b->unit, unit) == 0)
    return true;
  snprintf(error, size, "--fail-if '%.80s': %s is measured in %.40s, not in %s",
           b->text, b->type, unit, b->unit);
  return false;
}

// Noise of NEW against a constant. If NEW were just at the limit, its variance
// would be smaller by the same factor as its value. So no noise explains a
// value above a limit of 0.
static struct noise noise_at(const struct estimate *new, double limit) {
  const double part = new->value > limit &&limit >= 0 ? limit / new->value : 1;
  return noise_of(part * new->variance, part * new->spread,
                  new->files > 1 ? new->files - 1 : 0);
}

struct verdict budget_judge(const struct budget *b, const struct estimate *old,
                            const struct estimate *new) {
  // NEW may be up to factor * OLD + constant.
  const double factor = b->kind == BUDGET_PERCENT  ? 1 + b->amount
                        : b->kind == BUDGET_GROWTH ? 1
                                                   : 0;
  const double constant = b->kind == BUDGET_PERCENT ? 0 : b->amount;
  const double limit = factor * old->value + constant;
  const struct noise noise = b->kind == BUDGET_VALUE
                                 ? noise_at(new, limit)
                                 : noise_of_difference(old, factor, new);
  const double excess = new->value - limit;
  // A growth of twice the budget exceeds the limit by this amount.
  const double room = b->kind == BUDGET_PERCENT ? fabs(b->amount) * old->value
                                                : fabs(b->amount);
  // Less than 5 % of estimates are this far below their mean.
  const double power = noise_normal(0.05) * noise.error;
  return (struct verdict){.is_broken = excess > noise.margin &&
                                       // 1.05 * 1000 has a rounding error, too.
                                       excess > 1e-9 * fabs(limit),
                          .is_noisy =
                              noise.margin + power > room && noise.error > 0,
                          .limit = limit,
                          .error = noise.error,
                          .margin = noise.margin};
}
