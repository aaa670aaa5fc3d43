// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which calls are rewritten, and by which rule of mprof/hooks.def. This
// file changes no IR.
//
//     call ptr @malloc(i64 8)            ; rewritten by rule Alloc
//     call i32 @malloc(i32 8)            ; not rewritten: another prototype
//     call ptr %f(i64 8)                 ; not rewritten: an indirect call
//
// A call that is rewritten is called a site. A call is a site if its callee has
// the linkage name and the prototype of a function in hooks.def (a hooked
// function). A call with the attribute nobuiltin is a site, too. The following
// calls are not sites:
//  - Indirect calls, including virtual calls: their callee is not known here.
//  - Calls of a function that has a hooked name but local linkage.
//  - Calls inside a custom allocator, or inside the program's own definition of
//    a hooked function, because the call of that outer function is counted.
//    However, calls of free inside a custom allocator are sites, because the
//    block may come from another allocator.
//  - Allocations and waits in functions with the attribute mprof_ignore or on
//    the ignorelist. Frees and unlocks in these functions are sites, because
//    the block may have been counted elsewhere and other threads may wait for
//    the lock.
// "Inside" means inside in the source. Marks.cpp records the function of each
// call before inlining moves calls.

#include "CallSites.h"
#include "Marks.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace mprof;

/// Returns how calls of \p F are rewritten because of an attribute of \p F,
/// such as mprof_alloc. Returns nothing if these calls are not rewritten. The
/// field Call of the result is not set.
static std::optional<Site> customSite(const Function &F) {
  // If F returns its result in memory, the address of that memory is the first
  // argument of a call. The indices in the attribute do not count this
  // argument.
  const int Shift = F.hasStructRetAttr() ? 1 : 0;
  int Unused = -1;
  auto Has = [&](StringRef Mark, int &First, int &Second, int &Third) {
    Attribute A = F.getFnAttribute(Mark);
    if (!A.isValid())
      return false;
    StringRef Rest = A.getValueAsString();
    for (int *Index : {&First, &Second, &Third}) {
      auto [Head, Tail] = Rest.split(',');
      Rest = Tail;
      if (!Head.getAsInteger(10, *Index))
        *Index += Shift;
    }
    return First >= 0;
  };
  Site S;
  S.Rule = Rule::CustomAlloc;
  if (Has(mark::alloc, S.Size, S.Count, Unused) ||
      Has(mark::alloc_out, S.Size, S.Out, Unused))
    return S;
  S.Rule = Rule::CustomFree;
  if (Has(mark::free, S.Ptr, Unused, Unused))
    return S;
  S.Rule = Rule::CustomRealloc;
  if (Has(mark::realloc, S.Ptr, S.Size, S.Count))
    return S;
  S.Size = S.Count = -1;
  S.Rule = Rule::UserLock;
  if (Has(mark::lock, S.Ptr, Unused, Unused))
    return S;
  S.Rule = Rule::UserUnlock;
  if (Has(mark::unlock, S.Ptr, Unused, Unused))
    return S;
  S.Rule = Rule::UserCall;
  S.Ptr = -1;
  if (F.hasFnAttribute(mark::blocking))
    return S;
  return std::nullopt;
}

CallSites::CallSites(Module &M, const ProfileKinds &Kinds) {
  for (const Hook &H : hooks()) {
    if (!Kinds.need(H))
      continue;
    GlobalValue *Callee = M.getNamedValue(H.Symbol);
    if (!Callee || Callee->hasLocalLinkage())
      continue;
    // A function that is not visible outside its library cannot be called by
    // the runtime, which is in another executable or library. So calls of such
    // a lock or blocking function are not rewritten.
    if (!isHeap(H.Rule) && !Callee->hasDefaultVisibility())
      continue;
    const Target T = {&H, prototype(H.Proto, M)};
    Hooked[Callee] = T;
    // A program may define malloc as an alias of another function. In calls,
    // the optimizer then replaces malloc by that function.
    if (isa<GlobalAlias>(Callee) && Callee->getAliaseeObject())
      Hooked.try_emplace(Callee->getAliaseeObject(), T);
  }
  for (const Function &F : M)
    if (std::optional<Site> S = customSite(F); S && Kinds.need(S->Rule))
      Custom[&F] = *S;
}

static void missed(const CallBase &Call, StringRef Callee, StringRef Why) {
  OptimizationRemarkEmitter ORE(Call.getFunction());
  ORE.emit([&] {
    return OptimizationRemarkMissed("mprof", "LeftAlone", &Call)
           << ore::NV("Callee", Callee) << " not rewritten: " << Why;
  });
}

/// Returns whether \p R is a rule of functions that create threads, unload
/// code, map memory, set signals or end the program. Rewritten code always
/// calls the runtime in place of such a function. The rewritten code has no
/// inline test, because such calls are rare.
static bool actsOnProcess(Rule R) {
  return R == Rule::Create || R == Rule::Unload || R == Rule::Leave ||
         R == Rule::Signal || R == Rule::Map;
}

/// Returns whether a call with rule \p R, such as an allocation or a wait,
/// concerns only its caller. A free or an unlock also concerns other code,
/// which may have allocated the block or may wait for the lock. \p Ptr is the
/// index of the block, or -1. In functions with mprof_ignore, calls that
/// concern only the caller are not rewritten.
static bool concernsOnlyCaller(Rule R, int Ptr) {
  switch (R) {
  case Rule::Call:
  case Rule::Map:
    return Ptr < 0;
  case Rule::Alloc:
  case Rule::Dup:
  case Rule::CustomAlloc:
  case Rule::Wait:
  case Rule::UserLock:
  case Rule::UserCall:
    return true;
  default:
    return false;
  }
}

static bool makesBlock(Rule R) {
  return R == Rule::Alloc || R == Rule::Realloc || R == Rule::Dup;
}

/// Returns the reason if \p Call must not be rewritten because of the function
/// that contains \p Call in the source. Returns an empty string if \p Call may
/// be rewritten.
static StringRef placeForbids(const CallBase &Call, Rule R, int Ptr) {
  switch (placeOf(Call)) {
  case Place::Ordinary:
    return {};
  case Place::Allocator:
    if (isRelease(R))
      return {};
    [[fallthrough]];
  case Place::Definition:
    return isHeap(R) ? "the call is inside an allocator, and MProf counts the "
                       "calls of the allocator instead"
                     : "";
  case Place::Synchronizer:
    return isHeap(R) || actsOnProcess(R)
               ? ""
               : "the call is inside a lock function, and MProf records the "
                 "calls of the lock function instead";
  case Place::Ignored:
    return concernsOnlyCaller(R, Ptr)
               ? "the calling function has the attribute mprof_ignore or is on "
                 "the ignorelist"
               : "";
  }
  llvm_unreachable("unknown place");
}

/// Returns the basic blocks of \p F that can run while no exception unwinds the
/// stack. All other basic blocks run only while an exception unwinds the stack.
/// In these, code size matters and time does not.
static DenseSet<const BasicBlock *> reachedWithoutUnwinding(const Function &F) {
  DenseSet<const BasicBlock *> Reached;
  SmallVector<const BasicBlock *, 32> Work{&F.getEntryBlock()};
  while (!Work.empty()) {
    const BasicBlock *BB = Work.pop_back_val();
    if (!Reached.insert(BB).second)
      continue;
    for (const BasicBlock *Succ : successors(BB))
      if (!Succ->isEHPad())
        Work.push_back(Succ);
  }
  return Reached;
}

static bool isCold(const Function &F) {
  return F.hasMinSize() || F.hasFnAttribute(Attribute::Cold);
}

static Site hookedSite(CallBase &Call, const Hook &H) {
  Site S;
  S.Call = &Call;
  S.Rule = H.Rule;
  S.H = &H;
  S.Size = H.Size;
  S.Count = H.Count;
  S.Ptr = H.Ptr;
  return S;
}

/// Returns whether the rewritten code of \p S always calls the runtime, without
/// an inline test. Calls of free and operator delete have no test if \p
/// FunctionIsCold, because code size then matters more than time. But musttail
/// calls of free keep their test, because leaving out the test would save
/// little.
static bool isUnconditional(const Site &S, bool FunctionIsCold) {
  if (isRelease(S.Rule))
    return FunctionIsCold && !S.Call->isMustTailCall();
  return S.Rule == Rule::Call || actsOnProcess(S.Rule);
}

/// Makes calls of free and operator delete unconditional (without the inline
/// test) if they run only while an exception unwinds the stack. All \p Sites
/// are in \p F.
static void shortenUnwindPaths(const Function &F, MutableArrayRef<Site> Sites) {
  auto IsReleaseSite = [](const Site &S) { return isRelease(S.Rule); };
  if (!F.hasPersonalityFn() || none_of(Sites, IsReleaseSite))
    return;
  const DenseSet<const BasicBlock *> Warm = reachedWithoutUnwinding(F);
  for (Site &S : Sites)
    if (isRelease(S.Rule))
      S.IsUnconditional =
          !Warm.contains(S.Call->getParent()) && !S.Call->isMustTailCall();
}

void CallSites::findHooked(Function &F, SmallVectorImpl<Site> &Sites) const {
  if (Hooked.empty() || F.hasFnAttribute(Attribute::Naked))
    return;

  const bool FunctionIsCold = isCold(F);
  const size_t First = Sites.size();
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call)
      continue;
    auto It = Hooked.find(Call->getCalledOperand());
    if (It == Hooked.end())
      continue;
    const Hook &H = *It->second.H;
    if (Call->getFunctionType() != It->second.Type ||
        Call->getCallingConv() != CallingConv::C || isa<CallBrInst>(Call)) {
      missed(*Call, H.Symbol,
             "the prototype or the calling convention of the call is not that "
             "of the library function");
      continue;
    }
    Site S = hookedSite(*Call, H);
    if (StringRef Why = placeForbids(*Call, H.Rule, H.Ptr); !Why.empty()) {
      missed(*Call, H.Symbol, Why);
      // The call must not be counted. Therefore it must bypass the runtime's
      // interceptor, which counts calls. There is one exception: a call of
      // malloc in the program's own operator new stays as it is. If the caller
      // of operator new was not rewritten, only the interceptor counts the
      // block.
      S.OnlyBypassesInterceptor = true;
      if (H.HasWord && makesBlock(H.Rule) &&
          placeOf(*Call) != Place::Definition)
        Sites.push_back(S);
      continue;
    }
    S.IsUnconditional = isUnconditional(S, FunctionIsCold);
    Sites.push_back(S);
  }
  if (!FunctionIsCold)
    shortenUnwindPaths(F, MutableArrayRef<Site>(Sites).drop_front(First));
}

/// Returns whether the call of \p S has arguments at the indices Size, Count
/// and Ptr, and whether these arguments and the result have the right types.
static bool usable(const Site &S) {
  auto Check = [&](int Index, bool Pointer) {
    if (Index < 0)
      return true;
    if (unsigned(Index) >= S.Call->arg_size())
      return false;
    Type *Ty = S.Call->getArgOperand(Index)->getType();
    return Pointer ? Ty->isPointerTy() && Ty->getPointerAddressSpace() == 0
                   : Ty->isIntegerTy() && Ty->getIntegerBitWidth() <= 64;
  };
  if ((S.Rule == Rule::CustomAlloc || S.Rule == Rule::CustomRealloc) &&
      (S.Out < 0 ? !S.Call->getType()->isPointerTy()
                 : !S.Call->getType()->isIntegerTy()))
    return false;
  return Check(S.Size, false) && Check(S.Count, false) && Check(S.Ptr, true) &&
         Check(S.Out, true);
}

void CallSites::findCustom(Function &F, SmallVectorImpl<Site> &Sites) const {
  if (Custom.empty() || F.hasFnAttribute(Attribute::Naked))
    return;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    auto It = Call ? Custom.find(Call->getCalledOperand()) : Custom.end();
    if (It == Custom.end())
      continue;
    Site S = It->second;
    S.Call = Call;
    StringRef Why = placeForbids(*Call, S.Rule, S.Ptr);
    if (Why.empty() && Call->isMustTailCall())
      Why = "the call is a musttail call, so no code can be inserted after it";
    if (Why.empty() && (!usable(S) || isa<CallBrInst>(Call)))
      Why = "the arguments or the result of the call do not have the types "
            "that the attribute needs";
    if (Why.empty())
      Sites.push_back(S);
    else
      missed(*Call, It->first->getName(), Why);
  }
}
