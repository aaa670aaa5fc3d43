// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites the calls of hooked functions (the functions of mprof/hooks.def,
// such as malloc). Runs after the optimizer.

#ifndef MPROF_PASS_REWRITEHOOKED_H
#define MPROF_PASS_REWRITEHOOKED_H

#include "RewriteLibrary.h"
#include "RewriteSwitched.h"
#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

class HookedRewriter {
public:
  explicit HookedRewriter(Runtime &RT) : RT(RT), Library(RT), Switched(RT) {}

  /// Rewrites the call \p S. Rewrite the calls of a basic block in reverse
  /// order, because each rewrite splits the basic block and moves the code
  /// after the call to a new basic block.
  void rewrite(const Site &S);

private:
  llvm::FunctionCallee entry(llvm::IRBuilderBase &B, const Site &S);
  llvm::Value *next(llvm::IRBuilderBase &B, const Site &S);
  void keepReference(llvm::Function &F);
  void showType(llvm::CallBase &Call);
  void callNext(const Site &S);
  void callEntryOnly(const Site &S);
  void selectCallee(const Site &S);
  void callThroughSwitch(const Site &S);
  /// The basic blocks of a site. Head ends with the branch, Fast begins with
  /// the call of the hooked function, and Cold begins with the call of the
  /// entry, the runtime's function in place of the hooked function.
  struct Branches {
    llvm::BasicBlock *Head, *Fast, *Cold;
  };
  bool canCallWithoutFrame(const Site &S);
  bool callWithoutFrame(const Site &S, llvm::BasicBlock *Cold);
  bool canOutline(const Site &S);
  void callOutlined(const Site &S, llvm::BasicBlock *Cold);
  void callAtCold(const Site &S, llvm::BasicBlock *Cold);
  Branches branchToEntry(const Site &S, llvm::Value *Cond);
  llvm::BasicBlock *callMalloc(const Site &S);
  void branchUnlessNull(const Site &S);
  bool canMeasure(const Site &S);
  void measureString(const Site &S);
  llvm::BasicBlock *copyString(const Site &S, llvm::Value *Bytes,
                               llvm::BasicBlock *Measure);
  void passSize(const Site &S, llvm::Value *Size, llvm::BasicBlock *Measure);

  Runtime &RT;
  LibraryHooks Library;
  Switches Switched;
  unsigned NumWithoutFrame = 0; ///< Number of calls by callWithoutFrame().
  /// The debug location of the cold call if the type of the block is known.
  llvm::DILocation *InTypeScope = nullptr;
};

} // namespace mprof

#endif // MPROF_PASS_REWRITEHOOKED_H
