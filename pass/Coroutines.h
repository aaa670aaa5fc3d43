// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prepares C++20 coroutines (-fmprof-coroutines), so that the runtime finds the
// coroutines that await a running coroutine.

#ifndef MPROF_PASS_COROUTINES_H
#define MPROF_PASS_COROUTINES_H

namespace llvm {
class Module;
} // namespace llvm

namespace mprof {

/// Makes the coroutines of \p M store where they suspend. Finds out where their
/// promises have the handle of the awaiting coroutine. Call this before LLVM
/// splits the coroutines.
void markCoroutines(llvm::Module &M);

/// Makes the resume functions of the coroutines that markCoroutines has marked
/// tell the runtime which coroutine they run. Call this after LLVM has split
/// the coroutines.
void describeCoroutines(llvm::Module &M);

} // namespace mprof

#endif // MPROF_PASS_COROUTINES_H
