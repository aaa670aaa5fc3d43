// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the changes that concern a whole function or the module: frame
// pointers, the frame of main, functions with mprof_wrapper, the version of
// mprof/hooks.def, and the unloading of libraries.
//
// The following reference makes the linker reject a program without the
// runtime, or with a runtime of another version:
//
//     @__mprof_abi_v<N>_reference = linkonce_odr hidden constant [2 x ptr]
//         [ ptr @"__mprof_runtime is missing: ...",
//           ptr @__mprof_abi_v<N> ], comdat          ; in @llvm.used
//
// Code for programs refers to @__mprof_is_program, too, and the name of its
// reference ends with _program.
//
// The constructor mprof.register and the destructor mprof.unregister pass the
// names of functions with mprof_wrapper to the runtime:
//
//     @mprof.wrappers_node = internal global { ptr, ptr, i64 }
//         { ptr null, ptr @mprof.wrappers, i64 2 }
//
// Code for shared libraries has a destructor that tells the runtime of the
// unloading. It runs after the library's other destructors:
//
//     define linkonce_odr hidden void @__mprof_module_unloads_v<N>() comdat {
//       call void @__mprof_module_unloads(ptr @__mprof_module_unloads_v<N>)
//       ret void
//     }

#include "RewriteModule.h"
#include "Compat.h"
#include "IRUtil.h"
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

void mprof::keepFramePointer(Function &F) {
  if (F.getFnAttribute("frame-pointer").getValueAsString() != "all")
    F.addFnAttr("frame-pointer", "non-leaf");
}

/// Sets the module flag \p Name. At link time, the largest value of all modules
/// counts.
static void setFlag(Module &M, StringRef Name, unsigned Value) {
  M.setModuleFlag(Module::Max, Name,
                  ConstantAsMetadata::get(ConstantInt::get(
                      Type::getInt32Ty(M.getContext()), Value)));
}

void mprof::keepFramePointers(Module &M) {
  if (M.getFramePointer() != FramePointerKind::All)
    setFlag(M, "frame-pointer", unsigned(FramePointerKind::NonLeaf));
}

void mprof::makeUnwindTable(Function &F) {
  F.setUWTableKind(UWTableKind::Async);
}

void mprof::makeUnwindTables(Module &M) {
  setFlag(M, "uwtable", unsigned(UWTableKind::Async));
}

void mprof::widenMemoryEffects(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration() || !F.hasFnAttribute(Attribute::Memory))
      continue;
    MemoryEffects Effects = F.getMemoryEffects();
    if (isModSet(Effects.getModRef(mprof::MemoryLocation::InaccessibleMem)))
      F.setMemoryEffects(Effects | MemoryEffects(mprof::MemoryLocation::Other,
                                                 ModRefInfo::ModRef));
  }
}

void mprof::storeMainFrame(Runtime &RT, Function &Main) {
  SmallVector<Instruction *, 4> Returns;
  for (BasicBlock &BB : Main)
    if (isa<ReturnInst>(BB.getTerminator())) {
      CallInst *Tail = BB.getTerminatingMustTailCall();
      Returns.push_back(Tail ? Tail : BB.getTerminator());
    }

  Builder Entry(&*Main.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Entry.SetCurrentDebugLocation(DebugLoc());
  Value *Frame = Entry.CreateIntrinsic(Intrinsic::frameaddress, {RT.PtrTy},
                                       {Entry.getInt32(0)});
  Entry.CreateAlignedStore(Frame, RT.word("main_frame"), Align(8));
  for (Instruction *Return : Returns) {
    Builder B(Return);
    B.CreateAlignedStore(ConstantPointerNull::get(RT.PtrTy),
                         RT.word("main_frame"), Align(8));
  }
}

/// Returns the name of \p F that profiles show: demangled, without parameters.
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

/// Sets the name of \p F in its debug info to \p Plain, the name that is
/// registered with the runtime. With -g1, the debug info has only a name such
/// as "get" for ns::pool::get, and an inlined function has no symbol with the
/// full name. So profiles would not recognize the frames of \p F. Does nothing
/// with -g, because the debug info then also has the mangled name.
static void nameInDebugInfo(const Function &F, StringRef Plain) {
  DISubprogram *SP = F.getSubprogram();
  if (!SP || !SP->isDistinct() || !SP->getLinkageName().empty() ||
      SP->getName() == Plain)
    return;
  constexpr unsigned NameOperand = 2;
  assert(SP->getOperand(NameOperand) == SP->getRawName());
  SP->replaceOperandWith(NameOperand, MDString::get(F.getContext(), Plain));
}

/// Makes constants with the names of the functions in \p Wrappers, without
/// duplicates.
static SmallVector<Constant *, 8>
wrapperNames(Runtime &RT, ArrayRef<const Function *> Wrappers) {
  SmallVector<Constant *, 8> Names;
  StringSet<> Seen;
  for (const Function *F : Wrappers) {
    std::string Plain = plainName(*F);
    nameInDebugInfo(*F, Plain);
    if (!Seen.insert(Plain).second)
      continue; // another overload of the function
    Constant *Text = ConstantDataArray::getString(RT.Ctx, Plain);
    auto *Name =
        new GlobalVariable(RT.M, Text->getType(), true,
                           GlobalValue::PrivateLinkage, Text, "mprof.wrapper");
    Name->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    Names.push_back(Name);
  }
  return Names;
}

void mprof::registerWrappers(Runtime &RT, ArrayRef<const Function *> Wrappers) {
  Module &M = RT.M;
  SmallVector<Constant *, 8> Names = wrapperNames(RT, Wrappers);
  auto *ArrayTy = ArrayType::get(RT.PtrTy, Names.size());
  auto *Array =
      new GlobalVariable(M, ArrayTy, true, GlobalValue::PrivateLinkage,
                         ConstantArray::get(ArrayTy, Names), "mprof.wrappers");
  // The fields of struct __mprof_wrappers (rt/symbolize/wrappers.h).
  Constant *Init =
      ConstantStruct::getAnon({ConstantPointerNull::get(RT.PtrTy), Array,
                               ConstantInt::get(RT.I64, Names.size())});
  auto *Node = new GlobalVariable(M, Init->getType(), false,
                                  GlobalValue::InternalLinkage, Init,
                                  "mprof.wrappers_node");

  auto Caller = [&](StringRef Name, StringRef Callee) {
    return RT.makeCaller(Name, GlobalValue::InternalLinkage, Callee, Node);
  };
  appendToGlobalCtors(M, Caller("mprof.register", "register_wrappers"), 65535);
  appendToGlobalDtors(M, Caller("mprof.unregister", "unregister_wrappers"),
                      65535);
}

void mprof::requireVersion(Runtime &RT) {
  static constexpr StringLiteral Version = MPROF_VERSIONED("abi");
  // The name of the comdat contains the version. Of several comdats with the
  // same name, the linker keeps only one. So if all versions had the same name,
  // the linker would not notice object files of different versions.
  std::string Name = (Version + "_reference").str();
  SmallVector<Constant *, 3> Symbols;
  auto Refer = [&](StringRef Symbol) {
    Constant *C = RT.M.getOrInsertGlobal(Symbol, Type::getInt8Ty(RT.Ctx));
    if (auto *GV = dyn_cast<GlobalVariable>(C))
      GV->setConstant(true);
    Symbols.push_back(C);
  };
  Refer(MPROF_MISSING_RUNTIME);
  Refer(Version);
  if (!RT.IsForLibrary)
    Refer((Prefix + "is_program").str());
  // Code for libraries and code for programs need different references.
  if (!RT.IsForLibrary)
    Name += "_program";
  if (RT.M.getNamedValue(Name))
    return;
  auto *Ty = ArrayType::get(RT.PtrTy, Symbols.size());
  auto *Reference =
      new GlobalVariable(RT.M, Ty, true, GlobalValue::LinkOnceODRLinkage,
                         ConstantArray::get(Ty, Symbols), Name);
  keepOne(*Reference);
  // llvm.used makes the linker keep the reference even with --gc-sections.
  appendToUsed(RT.M, {Reference});
}

void mprof::tellUnload(Runtime &RT) {
  // The code of an executable is never unloaded.
  if (!RT.IsForLibrary)
    return;
  static constexpr StringLiteral Name = MPROF_VERSIONED("module_unloads");
  if (RT.M.getNamedValue(Name))
    return;
  // The function passes its own address, which identifies the library.
  Function *F = RT.makeCaller(Name, GlobalValue::LinkOnceODRLinkage,
                              "module_unloads", nullptr);
  // The priority is 0, because destructors with low priorities run last.
  appendToGlobalDtors(RT.M, F, 0, F);
}
