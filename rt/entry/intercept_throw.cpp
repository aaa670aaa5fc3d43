// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Throws std::bad_alloc for intercept_new.cpp. The exception's type is in the
// C++ library. This file is compiled with position-independent access to data,
// so the program gets no copy of the type.

#include <new>

[[noreturn]] void mprof_throw_bad_alloc();

[[noreturn]] void mprof_throw_bad_alloc() { throw std::bad_alloc(); }
