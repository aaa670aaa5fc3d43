// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What MProf makes once for a function or a module: frame pointers, main's
// frame, the names of wrappers, the reference to the contract's version:
//
//     @__mprof_abi_v4_reference = linkonce_odr hidden constant ptr
//         @__mprof_abi_v4, comdat                  ; in @llvm.used
//
// and for wrappers, which mprof.register and mprof.unregister, a constructor
// and a destructor, give to the runtime:
//
//     @mprof.wrappers_node = internal global { ptr, ptr, i64 }
//         { ptr null, ptr @mprof.wrappers, i64 2 }
//
// and, in code for shared libraries, the destructor that runs last:
//
//     define linkonce_odr hidden void @__mprof_module_unloads_v4() comdat {
//       call void @__mprof_module_unloads(ptr @__mprof_module_unloads_v4)
//       ret void
//     }

#include "RewriteHooked.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <cassert>
#include <cstdlib>

#include "mprof/hooks.def"

using namespace llvm;
using namespace mprof;

void Rewriter::keepFramePointer(Function &F) {
  if (F.getFnAttribute("frame-pointer").getValueAsString() != "all")
    F.addFnAttr("frame-pointer", "non-leaf");
}

void Rewriter::keepFramePointers(Module &M) {
  if (M.getFramePointer() != FramePointerKind::All)
    M.setModuleFlag(Module::Max, "frame-pointer",
                    ConstantAsMetadata::get(
                        ConstantInt::get(Type::getInt32Ty(M.getContext()),
                                         uint32_t(FramePointerKind::NonLeaf))));
}

void Rewriter::widenMemoryEffects() {
  for (Function &F : M) {
    if (F.isDeclaration() || !F.hasFnAttribute(Attribute::Memory))
      continue;
    MemoryEffects Effects = F.getMemoryEffects();
    if (isModSet(Effects.getModRef(IRMemLocation::InaccessibleMem)))
      F.setMemoryEffects(
          Effects | MemoryEffects(IRMemLocation::Other, ModRefInfo::ModRef));
  }
}

void Rewriter::storeMainFrame(Function &Main) {
  SmallVector<Instruction *, 4> Returns;
  for (BasicBlock &BB : Main)
    if (isa<ReturnInst>(BB.getTerminator())) {
      CallInst *Tail = BB.getTerminatingMustTailCall();
      Returns.push_back(Tail ? Tail : BB.getTerminator());
    }

  Builder Entry(&*Main.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Entry.SetCurrentDebugLocation(DebugLoc());
  Value *Frame = Entry.CreateIntrinsic(Intrinsic::frameaddress, {PtrTy},
                                       {Entry.getInt32(0)});
  Entry.CreateAlignedStore(Frame, word("main_frame"), Align(8));
  for (Instruction *Return : Returns) {
    Builder B(Return);
    B.CreateAlignedStore(ConstantPointerNull::get(PtrTy), word("main_frame"),
                         Align(8));
  }
}

/// The name of \p F as profiles show it: demangled, without parameters.
static std::string plainName(const Function &F) {
  std::string Name = F.getName().ltrim('\1').str();
  ItaniumPartialDemangler Demangler;
  if (Demangler.partialDemangle(Name.c_str()) || !Demangler.isFunction())
    return Name;
  auto Take = [](char *Text) {
    std::string Result = Text ? Text : "";
    std::free(Text);
    return Result;
  };
  std::string Context = Take(Demangler.getFunctionDeclContextName({}, {}));
  std::string Base = Take(Demangler.getFunctionBaseName({}, {}));
  return Context.empty() ? Base : Context + "::" + Base;
}

/// Has the debug info name \p F as it is registered. With -g1 there is only the
/// name that the source declares, "get" for ns::pool::get, and where the
/// function is inlined no symbol has more. With -g there is the mangled name.
static void nameInDebugInfo(const Function &F, StringRef Plain) {
  DISubprogram *SP = F.getSubprogram();
  if (!SP || !SP->isDistinct() || !SP->getLinkageName().empty() ||
      SP->getName() == Plain)
    return;
  constexpr unsigned NameOperand = 2;
  assert(SP->getOperand(NameOperand) == SP->getRawName());
  SP->replaceOperandWith(NameOperand, MDString::get(F.getContext(), Plain));
}

void Rewriter::registerWrappers(ArrayRef<const Function *> Wrappers) {
  SmallVector<Constant *, 8> Names;
  StringSet<> Seen;
  for (const Function *F : Wrappers) {
    std::string Plain = plainName(*F);
    nameInDebugInfo(*F, Plain);
    if (!Seen.insert(Plain).second)
      continue; // another overload
    Constant *Text = ConstantDataArray::getString(Ctx, Plain);
    auto *Name =
        new GlobalVariable(M, Text->getType(), true,
                           GlobalValue::PrivateLinkage, Text, "mprof.wrapper");
    Name->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    Names.push_back(Name);
  }
  auto *ArrayTy = ArrayType::get(PtrTy, Names.size());
  auto *Array =
      new GlobalVariable(M, ArrayTy, true, GlobalValue::PrivateLinkage,
                         ConstantArray::get(ArrayTy, Names), "mprof.wrappers");
  // struct __mprof_wrappers of rt/fastpath.h.
  Constant *Init =
      ConstantStruct::getAnon({ConstantPointerNull::get(PtrTy), Array,
                               ConstantInt::get(I64, Names.size())});
  auto *Node = new GlobalVariable(M, Init->getType(), false,
                                  GlobalValue::InternalLinkage, Init,
                                  "mprof.wrappers_node");

  auto Caller = [&](StringRef Name, StringRef Callee) {
    auto *F = Function::createWithDefaultAttr(
        FunctionType::get(Type::getVoidTy(Ctx), false),
        GlobalValue::InternalLinkage, 0, Name, &M);
    F->setDoesNotThrow();
    auto *Ret = ReturnInst::Create(Ctx, BasicBlock::Create(Ctx, "", F));
    Builder B(Ret);
    B.CreateCall(entry(Callee, B.getVoidTy(), {PtrTy}), {Node});
    return F;
  };
  appendToGlobalCtors(M, Caller("mprof.register", "register_wrappers"), 65535);
  appendToGlobalDtors(M, Caller("mprof.unregister", "unregister_wrappers"),
                      65535);
}

#define MPROF_STRING_(X) #X
#define MPROF_STRING(X) MPROF_STRING_(X)

void Rewriter::requireVersion() {
  static constexpr StringLiteral Version =
      "__mprof_abi_v" MPROF_STRING(MPROF_ABI_VERSION);
  // One in each linked image: the comdat has the version in its name, or the
  // linker would keep one version's reference and drop the others.
  std::string Name = (Version + "_reference").str();
  if (M.getNamedValue(Name))
    return;
  Constant *Symbol = M.getOrInsertGlobal(Version, Type::getInt8Ty(Ctx));
  if (auto *GV = dyn_cast<GlobalVariable>(Symbol))
    GV->setConstant(true);
  auto *Reference = new GlobalVariable(
      M, PtrTy, true, GlobalValue::LinkOnceODRLinkage, Symbol, Name);
  Reference->setVisibility(GlobalValue::HiddenVisibility);
  Reference->setComdat(M.getOrInsertComdat(Name));
  // llvm.used also makes the linker keep it under --gc-sections.
  appendToUsed(M, {Reference});
}

void Rewriter::tellUnload() {
  // Code for executables is not unloaded; nor may it be in a library.
  if (!IsForLibrary)
    return;
  static constexpr StringLiteral Name =
      "__mprof_module_unloads_v" MPROF_STRING(MPROF_ABI_VERSION);
  if (M.getNamedValue(Name))
    return;
  // One in each linked image, as above.
  auto *F = Function::createWithDefaultAttr(
      FunctionType::get(Type::getVoidTy(Ctx), false),
      GlobalValue::LinkOnceODRLinkage, 0, Name, &M);
  F->setVisibility(GlobalValue::HiddenVisibility);
  F->setComdat(M.getOrInsertComdat(Name));
  F->setDoesNotThrow();
  auto *Ret = ReturnInst::Create(Ctx, BasicBlock::Create(Ctx, "", F));
  Builder B(Ret);
  B.CreateCall(entry("module_unloads", B.getVoidTy(), {PtrTy}), {F});
  // Destructors of low priorities run last.
  appendToGlobalDtors(M, F, 0, F);
}
