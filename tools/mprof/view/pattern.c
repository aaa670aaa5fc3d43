// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define PCRE2_CODE_UNIT_WIDTH 8

#include "view/pattern.h"

#include "common/memory.h"

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

struct pattern {
  pcre2_code *code;
  pcre2_match_data *match;
  pcre2_match_context *limits;
  unsigned long failures;
};

// Limits of one match: steps, and KiB for saved positions. After MAX_FAILURES
// matches that reached a limit, no text is compared any more.
enum {
  MAX_STEPS = 100000,
  MAX_STEPS_OF_FILE = 5000,
  MAX_HEAP = 4096,
  MAX_FAILURES = 100
};

struct pattern *pattern_new(const char *text, bool is_whole, char *error,
                            size_t size) {
  int code;
  PCRE2_SIZE offset;
  pcre2_compile_context *context = pcre2_compile_context_create(NULL);
  pcre2_set_max_pattern_length(context, 1 << 20);
  pcre2_set_parens_nest_limit(context, 100);
  struct pattern *p = zeroed(1, sizeof *p);
  p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                          is_whole ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0,
                          &code, &offset, context);
  pcre2_compile_context_free(context);
  if (!p->code) {
    PCRE2_UCHAR reason[128];
    pcre2_get_error_message(code, reason, sizeof reason);
    snprintf(error, size, "%s at character %zu", (char *)reason, offset + 1);
    free(p);
    return NULL;
  }
  p->match = pcre2_match_data_create(1, NULL);
  p->limits = pcre2_match_context_create(NULL);
  pcre2_set_match_limit(p->limits, is_whole ? MAX_STEPS_OF_FILE : MAX_STEPS);
  pcre2_set_heap_limit(p->limits, MAX_HEAP);
  return p;
}

bool pattern_matches(struct pattern *p, const char *text) {
  // Give up: the expression and the texts do not fit each other.
  if (p->failures >= MAX_FAILURES) {
    p->failures++;
    return false;
  }
  const int result =
      pcre2_match(p->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0,
                  p->match, p->limits);
  p->failures += result < PCRE2_ERROR_NOMATCH;
  return result >= 0;
}

unsigned long pattern_failures(const struct pattern *p) {
  return p ? p->failures : 0;
}

void pattern_free(struct pattern *p) {
  if (!p)
    return;
  pcre2_code_free(p->code);
  pcre2_match_data_free(p->match);
  pcre2_match_context_free(p->limits);
  free(p);
}
