// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function that a site calls. See Callee.h.

#include "Callee.h"
#include "IRUtil.h"
#include "RewriteSwitched.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mprof;

void mprof::sayAtCall(CallBase &Call) {
  Function *F = Call.getCalledFunction();
  if (!F)
    return;
  LLVMContext &Ctx = Call.getContext();
  AttributeList Of = F->getAttributes(), At = Call.getAttributes();
  At = At.addRetAttributes(Ctx, AttrBuilder(Ctx, Of.getRetAttrs()));
  if (F->doesNotThrow())
    At = At.addFnAttribute(Ctx, Attribute::NoUnwind);
  Call.setAttributes(At);
}

void mprof::retarget(CallBase &Call, Rule R, FunctionCallee Entry) {
  if (!isa<Constant>(Entry.getCallee()))
    sayAtCall(Call);
  Call.setAttributes(entryAttributes(Call.getContext(), Call.getAttributes(),
                                     Call.arg_size()));
  Call.setCalledFunction(Entry);
  if (!isRelease(R))
    Call.addFnAttr(Attribute::NoMerge);
  auto *CI = dyn_cast<CallInst>(&Call);
  if (CI && !CI->isMustTailCall())
    CI->setTailCallKind(CallInst::TCK_NoTail);
}

void mprof::callIndirectly(CallBase &Call, Value *Callee) {
  sayAtCall(Call);
  Call.setCalledOperand(Callee);
}

Value *mprof::toCall(IRBuilderBase &B, const Site &S, Value *Callee) {
  return Switches::mayBecomeJump(S) ? Callee : inRegister(B, Callee);
}

bool mprof::callsByWord(const Site &S) {
  const Function *Hooked = S.Call->getCalledFunction(); // null: an alias
  return S.H && S.H->HasWord && Hooked && Hooked->isDeclaration() &&
         Hooked->hasDefaultVisibility();
}

Function *mprof::declared(Runtime &RT, StringRef Name, FunctionType *Ty) {
  if (!RT.M.getNamedValue(Name))
    RT.M.getOrInsertFunction(Name, Ty);
  auto *F = dyn_cast<Function>(RT.M.getNamedValue(Name));
  return F && F->isDeclaration() && F->hasDefaultVisibility() &&
                 F->getFunctionType() == Ty
             ? F
             : nullptr;
}
