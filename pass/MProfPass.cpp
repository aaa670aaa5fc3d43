// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs MProf on a module: finds the calls to rewrite, reports them as remarks
// and rewrites them. Adds to a rewritten module a reference to the version of
// mprof/hooks.def (see RewriteModule.cpp).
//
// The module flag "mprof" records the last step that was done, so that each
// step is done only once. Without the flag, a step would be repeated in two
// cases: if the user gives the option for the plugin twice, or if the linker
// runs the passes again on bitcode that was rewritten at compile time.
//
//     !{i32 7, !"mprof", i32 1}     ; Marked: prepare has run
//     !{i32 7, !"mprof", i32 2}     ; Done: finish has run

#include "MProfPass.h"
#include "BlockTypes.h"
#include "CallSites.h"
#include "Coroutines.h"
#include "Marks.h"
#include "RewriteCustom.h"
#include "RewriteHooked.h"
#include "RewriteModule.h"
#include "Runtime.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SpecialCaseList.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace mprof;

/// Returns whether MProf supports the target of \p M. Other modules are not
/// rewritten, because their malloc is another function. For example, the same
/// compilation may also produce code for a GPU.
static bool isTarget(const Module &M) { return processorOf(M) != nullptr; }

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
           << (S.IsUnconditional ? " without an inline test" : "");
  });
}

/// Reports the calls in \p Sites as remarks, except those that are rewritten
/// only to bypass an interceptor. Passes all calls to \p Rewrite, the last call
/// first. Returns whether \p Sites has any calls.
static bool rewriteAll(ArrayRef<Site> Sites,
                       function_ref<void(const Site &)> Rewrite) {
  for (const Site &S : Sites)
    if (!S.OnlyBypassesInterceptor)
      report(S);
  for (const Site &S : reverse(Sites))
    Rewrite(S);
  return !Sites.empty();
}

static void prepare(Module &M, const Options &Opts) {
  setStep(M, Marked);
  markModule(M, readIgnorelists(M.getContext(), Opts).get(), Opts);
  if (Opts.Coroutines)
    markCoroutines(M);
  markBlockTypes(M);

  Runtime RT(M);
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
  CustomRewriter Rewriter(RT, Opts.Nested);
  bool Changed = rewriteAll(Sites, [&](const Site &S) { Rewriter.rewrite(S); });
  if (Opts.Nested == Nested::Outermost && Opts.Kinds.Heap)
    for (Function &F : M)
      Changed |= Rewriter.leaveNested(F);
  if (!Wrappers.empty())
    registerWrappers(RT, Wrappers);
  if (Changed || !Wrappers.empty()) {
    requireVersion(RT);
    tellUnload(RT);
  }
}

static bool isMain(const Function &F) {
  return F.getName() == "main" && F.hasExternalLinkage() &&
         !F.hasFnAttribute(Attribute::Naked);
}

/// Returns whether the runtime follows the stacks of \p M by unwind tables.
/// musl itself has none.
static bool unwindsByTables(const Module &M, Unwind Way) {
  return Way == Unwind::Tables ||
         (Way == Unwind::Default && !Triple(M.getTargetTriple()).isMusl());
}

static void finish(Module &M, const Options &Opts) {
  setStep(M, Done);
  Runtime RT(M);
  SmallVector<Site, 32> Sites;
  const CallSites Finder(M, Opts.Kinds);
  const bool ByTables = unwindsByTables(M, Opts.Unwind);
  if (Opts.Coroutines)
    describeCoroutines(M);
  Function *Main = nullptr;
  for (Function &F : M) {
    if (F.isDeclaration() || F.hasFnAttribute(Attribute::Naked))
      continue;
    if (ByTables)
      makeUnwindTable(F);
    else
      keepFramePointer(F);
    removeBarriers(F);
    if (isMain(F))
      Main = &F;
    Finder.findHooked(F, Sites);
  }
  if (ByTables)
    makeUnwindTables(M);
  else
    keepFramePointers(M);

  HookedRewriter Rewriter(RT);
  bool Changed = rewriteAll(Sites, [&](const Site &S) { Rewriter.rewrite(S); });
  Changed |= lowerDeferred(RT);
  if (Changed)
    widenMemoryEffects(M);
  if (Main)
    storeMainFrame(RT, *Main);
  if (Changed || Main)
    requireVersion(RT);
  if (Changed)
    tellUnload(RT);
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
