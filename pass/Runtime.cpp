// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares the runtime's variables and functions in the module:
//
//     @__mprof_heap_countdown =
//         external dso_local thread_local(localexec) global i64
//     @__mprof_free_mask = external dso_local global i64
//     @__mprof_waiters = external dso_local global [1024 x i32]
//     @__mprof_next_malloc = external dso_local global ptr
//     declare ptr @__mprof_malloc(i64) cold
//
// In code for shared libraries, the declarations have no dso_local, and
// thread_local(initialexec) in place of thread_local(localexec).

#include "Runtime.h"
#include "Compat.h"
#include "IRUtil.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mprof;

/// Returns whether the linker resolves references to extern variables at link
/// time, so that they need no entry of the GOT. Clang has the same rule.
static bool dataIsLocal(const Module &M) {
  if (auto *Direct = mdconst::extract_or_null<ConstantInt>(
          M.getModuleFlag("direct-access-external-data")))
    return !Direct->isZero();
  return M.getPICLevel() == PICLevel::NotPIC ||
         M.getPIELevel() != PIELevel::Default;
}

Runtime::Runtime(Module &M)
    : M(M), Ctx(M.getContext()), I64(Type::getInt64Ty(Ctx)),
      PtrTy(PointerType::getUnqual(Ctx)), CPU(*processorOf(M)),
      IsForLTO(M.getModuleFlag("ThinLTO") ||
               M.getModuleFlag("EnableSplitLTOUnit")),
      IsForLibrary(M.getPICLevel() != PICLevel::NotPIC &&
                   M.getPIELevel() == PIELevel::Default),
      WordsAreLocal(dataIsLocal(M)) {}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

GlobalVariable *Runtime::word(StringRef Name) {
  GlobalVariable *&Word = Words[Name];
  if (Word)
    return Word;
  const bool ThreadLocal = StringSwitch<bool>(Name)
#define MPROF_WORD(Name, ThreadLocal) .Case(#Name, ThreadLocal)
#include "mprof/hooks.def"
      ;
  Word =
      cast<GlobalVariable>(M.getOrInsertGlobal((Prefix + Name).str(), I64, [&] {
        return new GlobalVariable(M, I64, false, GlobalValue::ExternalLinkage,
                                  nullptr, Prefix + Name, nullptr,
                                  ThreadLocal ? GlobalValue::InitialExecTLSModel
                                              : GlobalValue::NotThreadLocal);
      }));
  // An executable contains its runtime, so the linker knows the variable's
  // offset from the thread pointer, and the local-exec model is possible. With
  // the initial-exec model, the code would load this offset from memory, and
  // linkers would not remove the load, because the symbol is exported.
  if (WordsAreLocal) {
    Word->setDSOLocal(true);
    if (ThreadLocal)
      Word->setThreadLocalMode(GlobalValue::LocalExecTLSModel);
  }
  return Word;
}

GlobalVariable *Runtime::waiters() {
  if (!Waiters) {
    Type *Ty = ArrayType::get(Type::getInt32Ty(Ctx), MPROF_WAITER_SLOTS);
    Waiters = cast<GlobalVariable>(
        M.getOrInsertGlobal((Prefix + "waiters").str(), Ty));
    if (WordsAreLocal)
      Waiters->setDSOLocal(true);
  }
  return Waiters;
}

GlobalVariable *Runtime::pointerWord(StringRef Kind, StringRef Symbol) {
  const std::string Name = (Prefix + Kind + "_" + Symbol).str();
  GlobalVariable *&Word = PointerWords[Name];
  if (!Word) {
    Word = cast<GlobalVariable>(M.getOrInsertGlobal(Name, PtrTy));
    if (WordsAreLocal)
      Word->setDSOLocal(true);
  }
  return Word;
}

void mprof::keepOne(GlobalObject &V) {
  V.setVisibility(GlobalValue::HiddenVisibility);
  V.setComdat(V.getParent()->getOrInsertComdat(V.getName()));
}

Function *Runtime::makeCaller(StringRef Name, GlobalValue::LinkageTypes Linkage,
                              StringRef Callee, Constant *Arg) {
  auto *F = Function::createWithDefaultAttr(
      FunctionType::get(Type::getVoidTy(Ctx), false), Linkage, 0, Name, &M);
  if (Linkage == GlobalValue::LinkOnceODRLinkage)
    keepOne(*F);
  F->setDoesNotThrow();
  Builder B(ReturnInst::Create(Ctx, BasicBlock::Create(Ctx, "", F)));
  B.CreateCall(function(Callee, B.getVoidTy(), {PtrTy}), {Arg ? Arg : F});
  return F;
}

GlobalVariable *Runtime::nextWord(StringRef Symbol) {
  return pointerWord("next", Symbol);
}

GlobalVariable *Runtime::sizedWord(StringRef Symbol) {
  return pointerWord("sized", Symbol);
}

GlobalVariable *Runtime::freeOffPageWord() {
  return pointerWord("free", "off_page");
}

GlobalVariable *Runtime::copyMallocWord() {
  return pointerWord("copy", "malloc");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

AttributeList mprof::entryAttributes(LLVMContext &Ctx, AttributeList Attrs,
                                     unsigned NumParams) {
  AttributeMask FnMask;
  for (Attribute::AttrKind Kind :
       {Attribute::Memory, Attribute::AllocKind, Attribute::Builtin,
        Attribute::NoBuiltin, Attribute::NoCallback, Attribute::NoFree,
        Attribute::NoRecurse, Attribute::NoSync, Attribute::Speculatable,
        Attribute::WillReturn, Attribute::MustProgress})
    FnMask.addAttribute(Kind);
  FnMask.addAttribute("alloc-family");
  AttributeMask ParamMask;
  for (Attribute::AttrKind Kind :
       {Attribute::AllocatedPointer, mprof::NoCapture, Attribute::NoFree,
        Attribute::ReadNone, Attribute::ReadOnly, Attribute::WriteOnly})
    ParamMask.addAttribute(Kind);

  Attrs = Attrs.removeFnAttributes(Ctx, FnMask);
  for (unsigned I = 0; I != NumParams; ++I)
    Attrs = Attrs.removeParamAttributes(Ctx, I, ParamMask);
  return Attrs;
}

FunctionCallee Runtime::function(StringRef Name, Type *Result,
                                 ArrayRef<Type *> Params) {
  return function(Name, FunctionType::get(Result, Params, false));
}

FunctionCallee Runtime::function(StringRef Name, FunctionType *Ty) {
  FunctionCallee Callee = M.getOrInsertFunction((Prefix + Name).str(), Ty);
  if (auto *F = dyn_cast<Function>(Callee.getCallee()))
    F->addFnAttr(Attribute::Cold);
  return Callee;
}

Constant *Runtime::hookEntry(const Site &S) {
  FunctionCallee Entry = function(S.H->Symbol, S.Call->getFunctionType());
  auto *Decl = dyn_cast<Function>(Entry.getCallee());
  Function *Hooked = S.Call->getCalledFunction();
  if (Decl && Hooked && Hooked->isDeclaration()) {
    // The runtime's function gets only those attributes of the hooked function
    // that are also true for the runtime's function. It gets nounwind only if
    // the hooked function has nounwind, because some hooked functions throw,
    // such as operator new.
    AttributeList Attrs =
        entryAttributes(Ctx, Hooked->getAttributes(), Hooked->arg_size());
    AttrBuilder Fn(Ctx);
    Fn.addAttribute(Attribute::Cold);
    for (Attribute::AttrKind Kind : {Attribute::NoUnwind, Attribute::AllocSize})
      if (Attribute A = Attrs.getFnAttr(Kind); A.isValid())
        Fn.addAttribute(A);
    Decl->setAttributes(Attrs.removeFnAttributes(Ctx).addFnAttributes(Ctx, Fn));
  }
  return cast<Constant>(Entry.getCallee());
}
