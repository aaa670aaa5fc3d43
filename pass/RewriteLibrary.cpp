// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the module hooks. In code for shared libraries, sites of the heap call
// through them. A library may have a private malloc or private operators, which
// a version script or visibility hides from the rest of the program. Only when
// the library is loaded do its own references show which function it calls. So
// a module for libraries has this hook for each hooked function f that it
// calls:
//
//     @mprof.hook.f = internal global [7 x ptr] [  ; struct __mprof_module_hook
//         ptr &@mprof.hook.f.lazy,        ; word: sites call what it points to
//         ptr @mprof.lazy_entry.f,        ; entry: cold sites call it
//         ptr @mprof.lazy.f,              ; the field lazy
//         ptr @__mprof_next_f, ptr @__mprof_f,
//         ptr @f, ptr @mprof.own_entry.f ]
//
// The first call through the field word or entry binds the hook, as the first
// call of a PLT entry does. So binding works whenever the first call comes:
//
//     define internal ptr @mprof.lazy.f(...) {
//       call void @__mprof_module_binds(ptr @mprof.hook.f)
//       %f = load ptr, ptr (load ptr, ptr @mprof.hook.f)
//       %p = musttail call ptr %f(...)
//       ret ptr %p
//     }
//
// After that, the fields word and entry lead to the program's f and to the
// runtime's entry. If f is private to the library, they lead to that f and to
// own_entry instead. own_entry is also f itself, except for rules that subtract
// from the countdown:
//
//     define internal ptr @mprof.own_entry.f(...) {
//       call void @__mprof_drop_sample(i64 %size)
//       %p = musttail call ptr @f(...)
//       ret ptr %p
//     }
//
// So sampling also selects the blocks of the private allocator, but they are
// not counted. Only sites refer to these symbols, so the linker drops the
// symbols together with the code of the sites.

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

/// Makes a function with the type of the hooked function that \p S calls. The
/// new function first runs the code that \p Callee inserts. It then passes its
/// arguments to the function that \p Callee returns.
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

/// Returns the field own_entry for \p Own, the library's own function: a
/// function that drops the sample and calls \p Own, or \p Own itself if sites
/// do not subtract from the countdown.
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

/// Returns the hook of the function that \p S calls; makes it if needed.
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
            RT.PtrTy, B.CreateConstGEP2_32(Ty, Hook, 0, EntryField), Align(8));
      });

  Constant *Fields[NumFields];
  Fields[WordField] = ConstantExpr::getInBoundsGetElementPtr(
      Ty, Hook,
      ArrayRef<Constant *>{ConstantInt::get(RT.I64, 0),
                           ConstantInt::get(RT.I64, LazyField)});
  Fields[EntryField] = LazyEntry;
  Fields[LazyField] = Lazy;
  Fields[NextField] =
      RT.M.getOrInsertGlobal((Prefix + "next_" + S.H->Symbol).str(), RT.PtrTy);
  Fields[RuntimeEntryField] = RT.hookEntry(S);
  Fields[OwnField] = Own;
  Fields[OwnEntryField] = OwnEntry;
  Hook->setInitializer(ConstantArray::get(Ty, Fields));
  return Hook;
}

Value *LibraryHooks::load(IRBuilderBase &B, const Site &S, Field F) {
  GlobalVariable *Hook = hook(S);
  Value *At = B.CreateConstInBoundsGEP2_32(Hook->getValueType(), Hook, 0, F);
  return B.CreateAlignedLoad(RT.PtrTy, At, Align(8));
}

Value *LibraryHooks::word(IRBuilderBase &B, const Site &S) {
  return load(B, S, WordField);
}

Value *LibraryHooks::entry(IRBuilderBase &B, const Site &S) {
  return load(B, S, EntryField);
}
