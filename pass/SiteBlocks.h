// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The basic blocks around a site: the tests before its call, and the code after
// the call, which several basic blocks join.

#ifndef MPROF_PASS_SITEBLOCKS_H
#define MPROF_PASS_SITEBLOCKS_H

#include "IRUtil.h"
#include "Runtime.h"

namespace mprof {

/// Ends \p BB with the return that follows \p S, which must be a call that may
/// become a jump. \p Result takes the place of the call's result.
void returnAfter(const Site &S, llvm::BasicBlock *BB, llvm::Value *Result);

/// Replaces the result of \p S in \p Cont and later code by a phi. If the
/// control comes from \p From, the result is \p Other.
void mergeResults(const Site &S, llvm::BasicBlock *Cont, llvm::BasicBlock *From,
                  llvm::Value *Other);

/// Lets \p From, which has no terminator yet, continue with the code after \p
/// S, which must be no invoke. \p Other is then the result of the call.
void join(const Site &S, llvm::BasicBlock *From, llvm::Value *Other);

/// Inserts a basic block into the edge that leads from the branch at the end of
/// \p From to its successor \p Edge. The new basic block leads to \p IfTrue if
/// the condition holds that \p Cond inserts. Returns the new basic block.
llvm::BasicBlock *insertTest(llvm::BasicBlock *From, unsigned Edge,
                             llvm::StringRef Name, llvm::BasicBlock *IfTrue,
                             llvm::MDNode *Weights,
                             llvm::function_ref<llvm::Value *(Builder &)> Cond);

} // namespace mprof

#endif // MPROF_PASS_SITEBLOCKS_H
