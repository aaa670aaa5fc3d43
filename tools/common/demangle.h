// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef MPROF_TOOLS_DEMANGLE_H
#define MPROF_TOOLS_DEMANGLE_H

#ifdef __cplusplus
extern "C" {
#endif

// Returns the demangled form of a name of C++, Rust or D. Names of C++ are as
// llvm-symbolizer prints them, and names of Rust have no hash. Returns NULL if
// the name is not mangled. The caller frees the result.
char *demangle(const char *name);

#ifdef __cplusplus
}
#endif

#endif
