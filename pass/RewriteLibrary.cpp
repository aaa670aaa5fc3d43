// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the module hooks: structs through which rewritten calls of malloc and
// similar functions go in code for shared libraries. A library may have a
// private malloc or private operators, which a version script or visibility
// hides from the rest of the program. The compiler cannot know this, because
// the library's references are bound when the library is loaded. So a module
// for libraries has a module hook for each function f of mprof/hooks.def that
// it calls:
//
//     @mprof.hook.f = internal global [7 x ptr] [  ; MPROF_MODULE_HOOK_FIELD
//         ptr &@mprof.hook.f.lazy,        ; word: calls of f go to *word
//         ptr @mprof.lazy_entry.f,        ; entry: calls of the runtime
//         ptr @mprof.lazy.f,              ; lazy: *word before the binding
//         ptr @__mprof_next_f, ptr @__mprof_f,  ; the program's f
//         ptr @f, ptr @mprof.own_entry.f ]      ; the library's f
//
// The first call through the field word or entry binds the hook (sets the
// fields word and entry), as the first call of a PLT entry does. So binding
// works even if the first call comes before the runtime has started:
//
//     define internal ptr @mprof.lazy.f(...) {
//       call void @__mprof_module_binds(ptr @mprof.hook.f)
//       %f = load ptr, ptr (load ptr, ptr @mprof.hook.f)
//       %p = musttail call ptr %f(...)
//       ret ptr %p
//     }
//
// If the library calls the program's f, binding sets word to @__mprof_next_f
// and entry to the runtime's @__mprof_f. If f is private to the library, *word
// becomes the library's f, and entry becomes own_entry. own_entry is f itself,
// unless a rewritten call of f subtracts the size from the sampling countdown.
// Then own_entry is this function:
//
//     define internal ptr @mprof.own_entry.f(...) {
//       call void @__mprof_drop_sample(i64 %size)
//       %p = musttail call ptr @f(...)
//       ret ptr %p
//     }
//
// So sampling also selects blocks of the private allocator, but
// __mprof_drop_sample discards these samples. If the linker drops the code that
// calls f, it also drops these symbols, because only that code refers to them.

#include "RewriteLibrary.h"
#include "FastPath.h"
#include "IRUtil.h"
#include "RewriteModule.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mprof;

bool LibraryHooks::covers(const Site &S) const {
  return RT.IsForLibrary && S.H && S.H->HasWord;
}

/// Makes a function with the type of the function that \p S calls. The new
/// function first runs the code that \p Callee inserts. Then the new function
/// passes its arguments to the function that \p Callee returns.
Function *LibraryHooks::standIn(const Site &S, StringRef Kind,
                                MakeCallee Callee) {
  FunctionType *Ty = S.Call->getFunctionType();
  auto *F = Function::createWithDefaultAttr(
      Ty, GlobalValue::InternalLinkage, 0,
      ("mprof." + Kind + "." + S.H->Symbol), &RT.M);
  F->addFnAttr(Attribute::Cold);
  F->addFnAttr(Attribute::NoInline);
  keepFramePointer(*F);
  SmallVector<Value *, 4> Args;
  for (Argument &A : F->args())
    Args.push_back(&A);
  BasicBlock *Entry = BasicBlock::Create(RT.Ctx, "", F);
  auto *Call =
      CallInst::Create(Ty, S.Call->getCalledOperand(), Args, "", Entry);
  Call->setTailCallKind(CallInst::TCK_MustTail);
  ReturnInst::Create(RT.Ctx, Ty->getReturnType()->isVoidTy() ? nullptr : Call,
                     Entry);
  Builder B(Call);
  Site Inside = S;
  Inside.Call = Call;
  Call->setCalledOperand(Callee(B, Inside));
  return F;
}

/// Returns the value for the field own_entry of a module hook. \p Own is the
/// library's own malloc or similar function. If the inline test before such a
/// call subtracts the size from the sampling countdown, own_entry is a function
/// that discards the sample and calls \p Own. Otherwise own_entry is \p Own.
Constant *LibraryHooks::ownEntry(const Site &S, Constant *Own) {
  if (S.Rule != Rule::Alloc && S.Rule != Rule::Realloc)
    return Own;
  return standIn(S, "own_entry", [&](IRBuilderBase &B, const Site &In) {
    B.CreateCall(RT.function("drop_sample", B.getVoidTy(), {RT.I64}),
                 {bytes(B, In)});
    return Own;
  });
}

void LibraryHooks::bind(IRBuilderBase &B, GlobalVariable *Hook) {
  B.CreateCall(RT.function("module_binds", B.getVoidTy(), {RT.PtrTy}), {Hook});
}

/// Returns the module hook of the function that \p S calls. Makes the hook if
/// the module does not have it yet.
GlobalVariable *LibraryHooks::hook(const Site &S) {
  std::string Name = ("mprof.hook." + S.H->Symbol).str();
  if (GlobalVariable *Known = RT.M.getNamedGlobal(Name))
    return Known;
  auto *Ty = ArrayType::get(RT.PtrTy, NumFields);
  auto *Hook = new GlobalVariable(RT.M, Ty, /*isConstant=*/false,
                                  GlobalValue::InternalLinkage, nullptr, Name);
  auto *Own = cast<Constant>(S.Call->getCalledOperand());
  Constant *OwnEntry = ownEntry(S, Own);
  Constant *Lazy = standIn(S, "lazy", [&](IRBuilderBase &B, const Site &) {
    bind(B, Hook);
    Value *Word = B.CreateAlignedLoad(RT.PtrTy, Hook, Align(8));
    return B.CreateAlignedLoad(RT.PtrTy, Word, Align(8));
  });
  Constant *LazyEntry =
      standIn(S, "lazy_entry", [&](IRBuilderBase &B, const Site &) {
        bind(B, Hook);
        return B.CreateAlignedLoad(
            RT.PtrTy, B.CreateConstGEP2_32(Ty, Hook, 0, F_entry), Align(8));
      });

  Constant *Fields[NumFields];
  Fields[F_word] = ConstantExpr::getInBoundsGetElementPtr(
      Ty, Hook,
      ArrayRef<Constant *>{ConstantInt::get(RT.I64, 0),
                           ConstantInt::get(RT.I64, F_lazy)});
  Fields[F_entry] = LazyEntry;
  Fields[F_lazy] = Lazy;
  Fields[F_program_s_word] =
      RT.M.getOrInsertGlobal((Prefix + "next_" + S.H->Symbol).str(), RT.PtrTy);
  Fields[F_program_s_entry] = RT.hookEntry(S);
  Fields[F_own] = Own;
  Fields[F_own_entry] = OwnEntry;
  Hook->setInitializer(ConstantArray::get(Ty, Fields));
  return Hook;
}

Value *LibraryHooks::load(IRBuilderBase &B, const Site &S, Field F) {
  GlobalVariable *Hook = hook(S);
  Value *At = B.CreateConstInBoundsGEP2_32(Hook->getValueType(), Hook, 0, F);
  return B.CreateAlignedLoad(RT.PtrTy, At, Align(8));
}

Value *LibraryHooks::word(IRBuilderBase &B, const Site &S) {
  return load(B, S, F_word);
}

Value *LibraryHooks::entry(IRBuilderBase &B, const Site &S) {
  return load(B, S, F_entry);
}
