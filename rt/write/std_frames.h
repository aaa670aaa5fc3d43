// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes frames of the standard libraries of C, C++, Rust, D and Fortran,
// and of Go's runtime, which the report leaves out. These frames say how a
// library works, and not what the program does.

#ifndef MPROF_RT_WRITE_STD_FRAMES_H
#define MPROF_RT_WRITE_STD_FRAMES_H

#include "symbolize/symbolize.h"

// Returns whether f is a frame of a standard library: by its module, by its
// source file, or by its name if the source file is unknown.
bool mprof_is_std_frame(const struct mprof_frame *f);
// Returns whether file is the path of a standard library or of the loader.
bool mprof_is_std_module(const char *file);

#endif // MPROF_RT_WRITE_STD_FRAMES_H
