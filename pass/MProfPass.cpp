// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drives a module through MProf: finds sites, reports them, has them rewritten,
// and refers to the contract's version if anything was.
//
// The module flag "mprof" says how far a module has come, so that each step is
// done once, whoever asks: plugins may be given twice, and bitcode that was
// rewritten when it was compiled may pass through again when it is linked.

#include "MProfPass.h"
#include "CallSites.h"
#include "Marks.h"
#include "RewriteHooked.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SpecialCaseList.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace mprof;

/// The contract is one for x86-64 Linux. Code for another target, such as that
/// for a GPU in the same compilation, calls another malloc.
static bool isTarget(const Module &M) {
  Triple T(M.getTargetTriple());
  return T.str().empty() ||
         (T.getArch() == Triple::x86_64 && T.isOSLinux() && !T.isX32());
}

enum Step : uint32_t { Untouched, Marked, Done };

static Step stepOf(const Module &M) {
  auto *Flag = mdconst::extract_or_null<ConstantInt>(M.getModuleFlag("mprof"));
  return Flag ? Step(Flag->getZExtValue()) : Untouched;
}

static void setStep(Module &M, Step S) {
  auto *Value = ConstantInt::get(Type::getInt32Ty(M.getContext()), S);
  M.setModuleFlag(Module::Max, "mprof", ConstantAsMetadata::get(Value));
}

static std::unique_ptr<SpecialCaseList> readIgnorelists(LLVMContext &Ctx,
                                                        const Options &Opts) {
  if (Opts.Ignorelists.empty())
    return nullptr;
  std::string Error;
  auto List = SpecialCaseList::create(Opts.Ignorelists,
                                      *vfs::getRealFileSystem(), Error);
  if (!List)
    Ctx.emitError("mprof: ignorelist: " + Error);
  return List;
}

static void report(const Site &S) {
  OptimizationRemarkEmitter ORE(S.Call->getFunction());
  ORE.emit([&] {
    return OptimizationRemark("mprof", "Rewritten", S.Call)
           << ore::NV("Callee", S.Call->getCalledOperand()->getName())
           << " rewritten in " << ore::NV("Function", S.Call->getFunction())
           << (S.Plain ? " without a test" : "");
  });
}

/// Returns whether there were any.
static bool rewriteAll(Rewriter &R, ArrayRef<Site> Sites) {
  for (const Site &S : Sites)
    if (!S.Beneath)
      report(S);
  for (const Site &S : reverse(Sites))
    R.rewrite(S);
  return !Sites.empty();
}

static void prepare(Module &M, const Options &Opts) {
  setStep(M, Marked);
  markModule(M, readIgnorelists(M.getContext(), Opts).get(), Opts);

  Rewriter R(M, Opts.Nested);
  SmallVector<const Function *, 8> Wrappers;
  SmallVector<Site, 32> Sites;
  const CallSites Finder(M, Opts.Kinds);
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    if (F.hasFnAttribute(mark::wrapper))
      Wrappers.push_back(&F);
    Finder.findCustom(F, Sites);
  }
  bool Changed = rewriteAll(R, Sites);
  if (Opts.Nested == Nested::Outermost && Opts.Kinds.Heap)
    for (Function &F : M)
      Changed |= R.leaveNested(F);
  if (!Wrappers.empty())
    R.registerWrappers(Wrappers);
  if (Changed || !Wrappers.empty()) {
    R.requireVersion();
    R.tellUnload();
  }
}

static bool isMain(const Function &F) {
  return F.getName() == "main" && F.hasExternalLinkage() &&
         !F.hasFnAttribute(Attribute::Naked);
}

static void finish(Module &M, const Options &Opts) {
  setStep(M, Done);
  Rewriter R(M, Opts.Nested);
  SmallVector<Site, 32> Sites;
  const CallSites Finder(M, Opts.Kinds);
  Function *Main = nullptr;
  for (Function &F : M) {
    if (F.isDeclaration() || F.hasFnAttribute(Attribute::Naked))
      continue;
    Rewriter::keepFramePointer(F);
    removeBarriers(F);
    if (isMain(F))
      Main = &F;
    Finder.findHooked(F, Sites);
  }
  Rewriter::keepFramePointers(M);

  bool Changed = rewriteAll(R, Sites);
  Changed |= R.lowerDeferred();
  if (Changed)
    R.widenMemoryEffects();
  if (Main)
    R.storeMainFrame(*Main);
  if (Changed || Main)
    R.requireVersion();
  if (Changed)
    R.tellUnload();
}

PreservedAnalyses MarkPass::run(Module &M, ModuleAnalysisManager &) {
  if (stepOf(M) != Untouched || !isTarget(M))
    return PreservedAnalyses::all();
  prepare(M, Opts);
  return PreservedAnalyses::none();
}

PreservedAnalyses MProfPass::run(Module &M, ModuleAnalysisManager &) {
  if (stepOf(M) == Done || !isTarget(M))
    return PreservedAnalyses::all();
  if (stepOf(M) == Untouched)
    prepare(M, Opts);
  finish(M, Opts);
  return PreservedAnalyses::none();
}
