// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rules.h"

static const struct {
  const char *name, *text;
} rules[] = {
#define TRACE_RULE(id, name, what) {name, what},
#include "rules.def"
#undef TRACE_RULE
};

const char *trace_rule_name(enum trace_rule rule) { return rules[rule].name; }

const char *trace_rule_text(enum trace_rule rule) { return rules[rule].text; }
