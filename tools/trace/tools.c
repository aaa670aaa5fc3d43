// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools.h"

const char *trace_tool_name = "mprof trace";
