// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes branch weights, keeps values in registers, and inserts a basic block
// into the normal edge of an invoke, that is, the edge that the program takes
// if the callee returns:
//
//     invoke ... to label %to unwind label %pad
// becomes
//     invoke ... to label %mprof.cont unwind label %pad
//   mprof.cont:
//     br label %to

#include "IRUtil.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

MDNode *mprof::unlikely(LLVMContext &Ctx) {
  return MDBuilder(Ctx).createBranchWeights(1, (1u << 20) - 1);
}

Value *mprof::inRegister(IRBuilderBase &B, Value *V) {
  auto *Ty = FunctionType::get(V->getType(), V->getType(), false);
  CallInst *Call = B.CreateCall(
      InlineAsm::get(Ty, "", "=r,0", /*hasSideEffects=*/false), {V});
  Call->setDoesNotAccessMemory();
  Call->setDoesNotThrow();
  Call->addFnAttr(Attribute::WillReturn);
  return Call;
}

BasicBlock *mprof::splitNormalEdge(InvokeInst *Invoke) {
  BasicBlock *From = Invoke->getParent(), *To = Invoke->getNormalDest();
  BasicBlock *Edge = BasicBlock::Create(From->getContext(), "mprof.cont",
                                        From->getParent(), From->getNextNode());
  BranchInst::Create(To, Edge)->setDebugLoc(Invoke->getDebugLoc());
  To->replacePhiUsesWith(From, Edge);
  Invoke->setNormalDest(Edge);
  return Edge;
}
