// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortens the paths of source files. Debug information often contains long
// paths such as
// /usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/vector.

#ifndef MPROF_TOOL_SOURCE_PATH_H
#define MPROF_TOOL_SOURCE_PATH_H

// Removes "//", "/./" and "DIR/.." from path. If DIR is a symbolic link, the
// shorter path may name another file. In this case the function does not change
// path. Call this function in the symbolizer's helper process only.
void mprof_source_path(char *path);

#endif // MPROF_TOOL_SOURCE_PATH_H
