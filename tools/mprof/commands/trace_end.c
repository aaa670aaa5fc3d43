// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/trace_end.h"

#include "common/plural.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void trace_complain(const struct options *options, const char *path,
                    uint64_t violations, const char *wrong) {
  if (violations)
    complain(options,
             "%s: %" PRIu64 " violation%s of the trace format; %s incomplete "
             "or wrong",
             path, violations, plural(violations), wrong);
}

int trace_end(const struct options *options, const char *path,
              uint64_t violations, const char *wrong) {
  trace_complain(options, path, violations, wrong);
  if (fflush(stdout) != 0)
    return complain(options, "standard output: %s", strerror(errno));
  return violations ? STATUS_FOUND : STATUS_OK;
}
