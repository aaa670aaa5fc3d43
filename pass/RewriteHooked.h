// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites the sites of hooked functions. Called after the optimizer.

#ifndef MPROF_PASS_REWRITEHOOKED_H
#define MPROF_PASS_REWRITEHOOKED_H

#include "RewriteLibrary.h"
#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

class HookedRewriter {
public:
  explicit HookedRewriter(Runtime &RT) : RT(RT), Library(RT) {}

  /// Rewrites \p S. Call this for the sites of a basic block in reverse order,
  /// because a rewrite splits the block after its call and moves the code that
  /// follows to a new block.
  void rewrite(const Site &S);

private:
  llvm::FunctionCallee entry(llvm::IRBuilderBase &B, const Site &S);
  llvm::Value *next(llvm::IRBuilderBase &B, const Site &S);
  void keepReference(llvm::Function &F);
  void callNext(const Site &S);
  void callEntryOnly(const Site &S);
  void selectCallee(const Site &S);
  void branchToEntry(const Site &S, llvm::Value *Cond);

  Runtime &RT;
  LibraryHooks Library;
};

} // namespace mprof

#endif // MPROF_PASS_REWRITEHOOKED_H
