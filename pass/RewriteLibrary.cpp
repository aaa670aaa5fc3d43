// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sites of the heap call in shared libraries. A library may have a malloc
// or operators that nobody else sees, by a version script or by visibility:
// only its references tell, once it is loaded. So it has, for each hooked
// function f that it calls,
//
//     @__mprof_module_f = linkonce_odr hidden global { ptr, ptr, ptr, ptr }
//         { ptr @__mprof_next_f, ptr @__mprof_f, ptr @f, ptr @private }, comdat
//     define linkonce_odr hidden void @__mprof_module_binds_f() comdat(...) {
//       call void @__mprof_module_binds(ptr @__mprof_module_f)
//       ret void
//     }
//
// of which the latter is a constructor that runs before all others. Sites call
// through the first two fields, the cold ones through the second. Where f is
// the library's alone the runtime changes both: to the third, and to the
// fourth, which is f, or for what takes sizes off the countdown
//
//     define linkonce_odr hidden ptr @__mprof_module_own_f(...) comdat(...) {
//       call void @__mprof_drop_sample(i64 %size)
//       %p = musttail call ptr @f(...)
//       ret ptr %p
//     }
//
// so that the library's own blocks are samples as any, and counted nowhere.

#include "Rewrite.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace mprof;

bool Rewriter::hasModuleHook(const Site &S) const {
  return IsForLibrary && S.H && S.H->HasWord;
}

/// One in each linked image.
static void makeHidden(GlobalObject &G, Comdat *Group) {
  G.setVisibility(GlobalValue::HiddenVisibility);
  G.setComdat(Group);
}

Constant *Rewriter::privateEntry(const Site &S, Comdat *Group) {
  auto *Own = cast<Constant>(S.Call->getCalledOperand());
  if (S.Rule != Rule::ALLOC && S.Rule != Rule::REALLOC)
    return Own;
  FunctionType *Ty = S.Call->getFunctionType();
  auto *F = Function::createWithDefaultAttr(
      Ty, GlobalValue::LinkOnceODRLinkage, 0,
      (Prefix + "module_own_" + S.H->Symbol).str(), &M);
  makeHidden(*F, Group);
  F->addFnAttr(Attribute::Cold);
  keepFramePointer(*F);
  BasicBlock *Entry = BasicBlock::Create(Ctx, "", F);
  auto *Call = CallInst::Create(
      Ty, Own,
      SmallVector<Value *, 4>(map_range(
          F->args(), [](Argument &A) { return static_cast<Value *>(&A); })),
      "", Entry);
  Call->setTailCallKind(CallInst::TCK_MustTail);
  ReturnInst::Create(Ctx, Call, Entry);

  Site InStub = S;
  InStub.Call = Call;
  Builder B(Call);
  B.CreateCall(entry("drop_sample", B.getVoidTy(), {I64}), {bytes(B, InStub)});
  return F;
}

GlobalVariable *Rewriter::moduleHook(const Site &S) {
  std::string Name = (Prefix + "module_" + S.H->Symbol).str();
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  Comdat *Group = M.getOrInsertComdat(Name);
  std::string Word = (Prefix + "next_" + S.H->Symbol).str();
  auto *Own = cast<Constant>(S.Call->getCalledOperand());
  Constant *Init =
      ConstantStruct::getAnon({M.getOrInsertGlobal(Word, PtrTy), hookEntry(S),
                               Own, privateEntry(S, Group)});
  auto *Hook = new GlobalVariable(M, Init->getType(), /*isConstant=*/false,
                                  GlobalValue::LinkOnceODRLinkage, Init, Name);
  makeHidden(*Hook, Group);

  auto *Binds = Function::createWithDefaultAttr(
      FunctionType::get(Type::getVoidTy(Ctx), false),
      GlobalValue::LinkOnceODRLinkage, 0,
      (Prefix + "module_binds_" + S.H->Symbol).str(), &M);
  makeHidden(*Binds, Group);
  Binds->setDoesNotThrow();
  Builder B(ReturnInst::Create(Ctx, BasicBlock::Create(Ctx, "", Binds)));
  B.CreateCall(entry("module_binds", B.getVoidTy(), {PtrTy}), {Hook});
  appendToGlobalCtors(M, Binds, 0, Binds);
  return Hook;
}

Value *Rewriter::moduleField(IRBuilderBase &B, const Site &S,
                             ModuleField Field) {
  GlobalVariable *Hook = moduleHook(S);
  return B.CreateAlignedLoad(
      PtrTy, B.CreateStructGEP(Hook->getValueType(), Hook, Field), Align(8));
}
