// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace.h"

#include "trace_data.h"

unsigned trace_minor(const struct trace *t) { return t->minor; }

bool trace_is_v2(const struct trace *t) { return t->minor >= 22; }

uint64_t trace_frequency(const struct trace *t) { return t->frequency; }
