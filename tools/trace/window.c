// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_time(const char *option, const char *text, uint64_t *ns,
                       char *error, size_t size) {
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
  char *end = NULL;
  double value = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;
  for (size_t i = 0; end && i < sizeof units / sizeof *units; i++) {
    // A double represents every integer up to 2^53 exactly. 9e15 ns (104 days)
    // is just below 2^53 ns.
    if (strcmp(end, units[i].name) == 0 && value * units[i].ns < 9e15) {
      *ns = (uint64_t)(value * units[i].ns + 0.5);
      return true;
    }
  }
  snprintf(error, size, "--%s=%s is not a time such as 1.5s or 20ms", option,
           text);
  return false;
}

bool trace_window_parse(struct trace_window *window, const char *from,
                        const char *to, char *error, size_t size) {
  *window = trace_window_all;
  if ((from && !parse_time("from", from, &window->from, error, size)) ||
      (to && !parse_time("to", to, &window->to, error, size)))
    return false;
  if (window->from < window->to)
    return true;
  snprintf(error, size, "--from is not before --to");
  return false;
}
