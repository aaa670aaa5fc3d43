// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The script and the style sheet of the HTML pages. assets.cmake makes them,
// and their hashes, from the files of this directory.

#ifndef MPROF_TOOL_ASSETS_H
#define MPROF_TOOL_ASSETS_H

#include <stddef.h>

extern const char html_script[], html_style[];
extern const size_t html_script_size, html_style_size;
// SHA-256 in base64, for the page's Content-Security-Policy.
extern const char html_script_hash[], html_style_hash[];

#endif
