// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers to insert IR. They do not depend on hooks or on the runtime.

#ifndef MPROF_PASS_IRUTIL_H
#define MPROF_PASS_IRUTIL_H

#include "llvm/IR/IRBuilder.h"

namespace mprof {

/// Inserts instructions before \p I, with its debug location. All of them get
/// !nosanitize: a sanitizer would otherwise check, and slow down, MProf's own
/// accesses.
struct Builder
    : llvm::IRBuilder<llvm::ConstantFolder, llvm::IRBuilderCallbackInserter> {
  explicit Builder(llvm::Instruction *I)
      : IRBuilder(I->getContext(), llvm::ConstantFolder(),
                  llvm::IRBuilderCallbackInserter([](llvm::Instruction *New) {
                    New->setNoSanitizeMetadata();
                  })) {
    SetInsertPoint(I);
  }
};

/// Returns branch weights for a condition that almost never holds.
llvm::MDNode *unlikely(llvm::LLVMContext &Ctx);

/// Inserts a block into the normal edge of \p Invoke and returns it.
llvm::BasicBlock *splitNormalEdge(llvm::InvokeInst *Invoke);

} // namespace mprof

#endif // MPROF_PASS_IRUTIL_H
