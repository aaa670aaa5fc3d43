// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace.h"

#include "trace_data.h"

unsigned trace_minor(const struct trace *t) { return t->minor; }

uint64_t trace_frequency(const struct trace *t) { return t->frequency; }
