// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules that a trace must obey, as listed in rules.def.

#ifndef MPROF_TRACE_RULES_H
#define MPROF_TRACE_RULES_H

enum trace_rule {
#define TRACE_RULE(id, name, what) TRACE_RULE_##id,
#include "rules.def"
#undef TRACE_RULE
  TRACE_RULE_COUNT
};

const char *trace_rule_name(enum trace_rule rule);
const char *trace_rule_text(enum trace_rule rule);

#endif
