// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves a call of the runtime to a function of its own, so that the function
// with the site needs no frame for it.

#ifndef MPROF_PASS_OUTLINEDCALL_H
#define MPROF_PASS_OUTLINEDCALL_H

#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

/// Makes a function that calls the function that \p Entry returns, with its own
/// arguments, and returns the result. The function has the type of the call of
/// \p S. \p Entry gets a builder for the code before the call and returns the
/// callee. In stacks, the function looks like the function that contains \p S.
llvm::Function *outlinedCall(
    Runtime &RT, const Site &S,
    llvm::function_ref<llvm::FunctionCallee(llvm::IRBuilderBase &)> Entry,
    llvm::function_ref<void(llvm::CallBase &, llvm::FunctionCallee)> Retarget);

} // namespace mprof

#endif // MPROF_PASS_OUTLINEDCALL_H
