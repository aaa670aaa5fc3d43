// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page of mprof html, for all commands that show it.

#ifndef MPROF_TOOL_HTML_PAGE_H
#define MPROF_TOOL_HTML_PAGE_H

#include "commands/options.h"

// Writes the page of the files options->paths to options->output. version: as
// in struct page_start. Returns the exit status of the command.
int html_make(const struct options *options, unsigned long version);

#endif
