// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that help to insert IR. They do not depend on MProf's other files.

#ifndef MPROF_PASS_IRUTIL_H
#define MPROF_PASS_IRUTIL_H

#include "Compat.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

/// Inserts instructions before the instruction \p I and gives them the debug
/// location of \p I. Also gives them !nosanitize, because sanitizers would
/// otherwise check MProf's own memory accesses, which costs time.
struct Builder
    : llvm::IRBuilder<llvm::ConstantFolder, llvm::IRBuilderCallbackInserter> {
  explicit Builder(llvm::Instruction *I)
      : IRBuilder(I->getContext(), llvm::ConstantFolder(),
                  llvm::IRBuilderCallbackInserter(
                      [](llvm::Instruction *New) { setNoSanitize(New); })) {
    SetInsertPoint(I);
  }
  /// Inserts at the end of \p BB, with the debug location \p Loc.
  Builder(llvm::BasicBlock *BB, const llvm::DebugLoc &Loc)
      : IRBuilder(BB->getContext(), llvm::ConstantFolder(),
                  llvm::IRBuilderCallbackInserter(
                      [](llvm::Instruction *New) { setNoSanitize(New); })) {
    SetInsertPoint(BB);
    SetCurrentDebugLocation(Loc);
  }
};

/// Returns branch weights for a condition that almost never holds.
llvm::MDNode *unlikely(llvm::LLVMContext &Ctx);

/// Returns \p V as the result of an empty asm. The optimizer then does not know
/// where the value comes from, and keeps the value in a register.
llvm::Value *inRegister(llvm::IRBuilderBase &B, llvm::Value *V);

/// Inserts a basic block into the edge that \p Invoke takes if its callee
/// returns. Returns the new basic block.
llvm::BasicBlock *splitNormalEdge(llvm::InvokeInst *Invoke);

} // namespace mprof

#endif // MPROF_PASS_IRUTIL_H
