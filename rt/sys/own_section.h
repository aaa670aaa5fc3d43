// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included before each source file of the runtime: puts its functions into a
// section of their own, so that the runtime knows which code is its own
// (unwind/own_code.c).

#pragma clang section text = "mprof_own_text"
