// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The basic blocks around a site. See SiteBlocks.h.

#include "SiteBlocks.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mprof;

void mprof::returnAfter(const Site &S, BasicBlock *BB, Value *Result) {
  Type *Ty = BB->getParent()->getReturnType();
  // If the types differ, the function returns an undefined value.
  if (!Ty->isVoidTy() && Ty != Result->getType())
    Result = PoisonValue::get(Ty);
  ReturnInst::Create(BB->getContext(), Ty->isVoidTy() ? nullptr : Result, BB)
      ->setDebugLoc(S.Call->getDebugLoc());
}

void mprof::mergeResults(const Site &S, BasicBlock *Cont, BasicBlock *From,
                         Value *Other) {
  CallBase *Call = S.Call;
  if (Call->use_empty())
    return;
  PHINode *Phi =
      PHINode::Create(Call->getType(), 2, "", position(Cont->begin()));
  Phi->setDebugLoc(Call->getDebugLoc());
  Phi->takeName(Call);
  Call->replaceAllUsesWith(Phi);
  Phi->addIncoming(Call, Call->getParent());
  Phi->addIncoming(Other, From);
}

void mprof::join(const Site &S, BasicBlock *From, Value *Other) {
  CallBase *Call = S.Call;
  BasicBlock *Fast = Call->getParent();
  // The debug records after the call describe its result. The head bit makes
  // these debug records move to the new basic block, too.
  BasicBlock::iterator Next = std::next(Call->getIterator());
  includeDebugRecords(Next);
  BasicBlock *Cont = Fast->splitBasicBlock(Next, "mprof.cont");
  Fast->getTerminator()->setDebugLoc(Call->getDebugLoc());
  BranchInst::Create(Cont, From)->setDebugLoc(Call->getDebugLoc());
  mergeResults(S, Cont, From, Other);
}

BasicBlock *mprof::insertTest(BasicBlock *From, unsigned Edge, StringRef Name,
                              BasicBlock *IfTrue, MDNode *Weights,
                              function_ref<Value *(Builder &)> Cond) {
  auto *Branch = cast<BranchInst>(From->getTerminator());
  BasicBlock *Target = Branch->getSuccessor(Edge);
  BasicBlock *Test =
      BasicBlock::Create(From->getContext(), Name, From->getParent(), Target);
  BranchInst *ToTarget = BranchInst::Create(Target, Test);
  ToTarget->setDebugLoc(Branch->getDebugLoc());
  Builder B(ToTarget);
  B.SetCurrentDebugLocation(Branch->getDebugLoc());
  B.CreateCondBr(Cond(B), IfTrue, Target, Weights);
  ToTarget->eraseFromParent();
  Branch->setSuccessor(Edge, Test);
  return Test;
}
