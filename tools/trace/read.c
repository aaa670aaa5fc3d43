// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "read.h"

#include "table.h"
#include "trace_data.h"
#include "v2_order.h"

uint64_t trace_read(struct trace *t, const struct trace_visitor *visitor) {
  t->visitor = visitor;
  t->violations = 0;
  t->frequency = 0;
  t->is_cut = false;
  t->generation = 0;
  clear_tables(t);
  v2_read(t);
  return t->violations;
}
