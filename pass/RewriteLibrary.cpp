// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sites of the heap call in shared libraries. A library may have a malloc
// or operators that nobody else sees, by a version script or by visibility:
// only its references tell, once it is loaded. So code for libraries has, for
// each hooked function f that it calls,
//
//     @mprof.hook.f = internal global %hook { ptr, ptr, ptr, ... }
//         { ptr &@mprof.hook.f.lazy, ptr @mprof.lazy_entry.f,   ; read by sites
//           ptr @mprof.lazy.f, ptr @__mprof_next_f, ptr @__mprof_f, ptr @f,
//           ptr @mprof.own_entry.f }
//
// Sites call what the first field points to, the cold ones the second. The
// first call of either binds it, as a PLT's does, and so at whatever time it
// comes:
//
//     define internal ptr @mprof.lazy.f(...) {
//       call void @__mprof_module_binds(ptr @mprof.hook.f)
//       %f = load ptr, ptr (load ptr, ptr @mprof.hook.f)
//       %p = musttail call ptr %f(...)
//       ret ptr %p
//     }
//
// From then on they are the runtime's word and entry, or where f is the
// library's alone f and own_entry, which is f too or, for what takes sizes off
// the countdown,
//
//     define internal ptr @mprof.own_entry.f(...) {
//       call void @__mprof_drop_sample(i64 %size)
//       %p = musttail call ptr @f(...)
//       ret ptr %p
//     }
//
// so that the library's own blocks are samples as any, and counted nowhere.
// Nothing but sites refers to all this, so it goes where they go.

#include "RewriteHooked.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mprof;

bool Rewriter::hasModuleHook(const Site &S) const {
  return IsForLibrary && S.H && S.H->HasWord;
}

/// A function like the one that \p S calls, which calls what \p Callee gives
/// in its own place, after what else it puts before that.
Function *
Rewriter::standIn(const Site &S, StringRef Kind,
                  function_ref<Value *(IRBuilderBase &, const Site &)> Callee) {
  FunctionType *Ty = S.Call->getFunctionType();
  auto *F = Function::createWithDefaultAttr(
      Ty, GlobalValue::InternalLinkage, 0,
      ("mprof." + Kind + "." + S.H->Symbol), &M);
  F->addFnAttr(Attribute::Cold);
  F->addFnAttr(Attribute::NoInline);
  keepFramePointer(*F);
  SmallVector<Value *, 4> Args;
  for (Argument &A : F->args())
    Args.push_back(&A);
  BasicBlock *Entry = BasicBlock::Create(Ctx, "", F);
  auto *Call =
      CallInst::Create(Ty, S.Call->getCalledOperand(), Args, "", Entry);
  Call->setTailCallKind(CallInst::TCK_MustTail);
  ReturnInst::Create(Ctx, Ty->getReturnType()->isVoidTy() ? nullptr : Call,
                     Entry);
  Builder B(Call);
  Site Inside = S;
  Inside.Call = Call;
  Call->setCalledOperand(Callee(B, Inside));
  return F;
}

GlobalVariable *Rewriter::moduleHook(const Site &S) {
  std::string Name = ("mprof.hook." + S.H->Symbol).str();
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  auto *Ty = ArrayType::get(PtrTy, 7);
  auto *Hook = new GlobalVariable(M, Ty, /*isConstant=*/false,
                                  GlobalValue::InternalLinkage, nullptr, Name);
  auto Binds = [&](IRBuilderBase &B) {
    B.CreateCall(entry("module_binds", B.getVoidTy(), {PtrTy}), {Hook});
  };
  auto *Own = cast<Constant>(S.Call->getCalledOperand());
  Constant *OwnEntry = Own;
  if (S.Rule == Rule::ALLOC || S.Rule == Rule::REALLOC)
    OwnEntry = standIn(S, "own_entry", [&](IRBuilderBase &B, const Site &In) {
      B.CreateCall(entry("drop_sample", B.getVoidTy(), {I64}), {bytes(B, In)});
      return Own;
    });
  Constant *Lazy = standIn(S, "lazy", [&](IRBuilderBase &B, const Site &) {
    Binds(B);
    Value *Word = B.CreateAlignedLoad(PtrTy, Hook, Align(8));
    return B.CreateAlignedLoad(PtrTy, Word, Align(8));
  });
  Constant *LazyEntry =
      standIn(S, "lazy_entry", [&](IRBuilderBase &B, const Site &) {
        Binds(B);
        return B.CreateAlignedLoad(
            PtrTy, B.CreateConstGEP2_32(Ty, Hook, 0, ModuleEntry), Align(8));
      });
  Constant *LazyField = ConstantExpr::getInBoundsGetElementPtr(
      Ty, Hook,
      ArrayRef<Constant *>{ConstantInt::get(I64, 0), ConstantInt::get(I64, 2)});
  std::string Word = (Prefix + "next_" + S.H->Symbol).str();
  // struct __mprof_module_hook of rt/fastpath.h.
  Hook->setInitializer(ConstantArray::get(Ty, {LazyField, LazyEntry, Lazy,
                                               M.getOrInsertGlobal(Word, PtrTy),
                                               hookEntry(S), Own, OwnEntry}));
  return Hook;
}

Value *Rewriter::moduleField(IRBuilderBase &B, const Site &S,
                             ModuleField Field) {
  GlobalVariable *Hook = moduleHook(S);
  Value *At =
      B.CreateConstInBoundsGEP2_32(Hook->getValueType(), Hook, 0, Field);
  return B.CreateAlignedLoad(PtrTy, At, Align(8));
}
