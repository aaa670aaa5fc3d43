// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The version of MProf that files and messages show.

#ifndef MPROF_RT_SYS_VERSION_H
#define MPROF_RT_SYS_VERSION_H

// CMake defines MPROF_VERSION as the project's version.
#ifndef MPROF_VERSION
#define MPROF_VERSION "0.1.0"
#endif

#endif // MPROF_RT_SYS_VERSION_H
