// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which calls are rewritten and how, and changes nothing.
//
// A call is a site when its callee is the hooked function itself, by linkage
// name, and the call's type is the hook's prototype. So these are left alone:
//  - indirect calls, also of virtual functions, and hooked functions whose
//    address is taken: what they call is not known here;
//  - a function of the module's own that has the name but local linkage;
//  - what lies inside a custom allocator or inside the program's own definition
//    of a hooked function: the outermost call has counted it. But custom
//    allocators free what they may have been given by others;
//  - allocations and waits that mprof_ignore or the ignorelist covers. Releases
//    there are rewritten, since the block may have been counted elsewhere, and
//    others may wait for the lock.
// "Inside" means as it was written: Marks.cpp notes it before inlining moves
// code about. nobuiltin calls are sites like any other.

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

ArrayRef<Hook> mprof::hooks() {
  static constexpr Hook Hooks[] = {
#define MPROF_HOOK(Symbol, Proto, RuleName, Size, Count, Ptr)                  \
  {#Symbol, Proto, Rule::RuleName, Size, Count, Ptr, Kind::None, 0, true},
#define MPROF_JEMALLOC_HOOK(Symbol, Proto, RuleName, Size, Count, Ptr)         \
  {#Symbol, Proto, Rule::RuleName, Size, Count, Ptr, Kind::None, 0},
#define MPROF_GC_HOOK(Symbol, Proto, RuleName, Size, Count, Ptr)               \
  {#Symbol, Proto, Rule::RuleName, Size, Count, Ptr, Kind::None, 0},
#define MPROF_OWNED(Symbol, Owner, MuslOwner, KindName)                        \
  {#Symbol, "ip",  Rule::Owned, -1, -1, 0, Kind::K_##KindName,                 \
   Owner,   false, MuslOwner},
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  {#Symbol, Proto, Rule::Release, -1, -1, Object, Kind::None, 0},
#define MPROF_WAIT(Symbol, Proto, KindName)                                    \
  {#Symbol, Proto, Rule::Wait, -1, -1, -1, Kind::K_##KindName, 0},
#define MPROF_CREATE(Symbol, Proto)                                            \
  {#Symbol, Proto, Rule::Create, -1, -1, -1, Kind::None, 0},
#define MPROF_UNLOAD(Symbol, Proto)                                            \
  {#Symbol, Proto, Rule::Unload, -1, -1, -1, Kind::None, 0},
#define MPROF_LEAVE(Symbol, Proto)                                             \
  {#Symbol, Proto, Rule::Leave, -1, -1, -1, Kind::None, 0},
#include "mprof/hooks.def"
  };
  return Hooks;
}

bool mprof::isForMusl(const Module &M) {
  return Triple(M.getTargetTriple()).isMusl();
}

static Type *typeOf(char Letter, LLVMContext &Ctx, bool IsMusl) {
  switch (Letter) {
  case 'v':
    return Type::getVoidTy(Ctx);
  case 'p':
    return PointerType::getUnqual(Ctx);
  case 'z':
    return Type::getInt64Ty(Ctx);
  case 't':
    return typeOf(IsMusl ? 'p' : 'z', Ctx, IsMusl);
  case 'i':
    return Type::getInt32Ty(Ctx);
  case 'b':
    return Type::getInt1Ty(Ctx);
  }
  llvm_unreachable("hooks.def: unknown letter in a prototype");
}

FunctionType *mprof::prototype(StringRef Proto, const Module &M) {
  LLVMContext &Ctx = M.getContext();
  const bool IsMusl = isForMusl(M);
  SmallVector<Type *, 4> Params;
  const bool IsVarArg = Proto.consume_back(".");
  for (char Letter : Proto.drop_front())
    Params.push_back(typeOf(Letter, Ctx, IsMusl));
  return FunctionType::get(typeOf(Proto.front(), Ctx, IsMusl), Params,
                           IsVarArg);
}

/// Whether waits of kind \p K end by a release that the mutex profile blames,
/// or release something themselves.
static bool concernsMutexes(Kind K) {
  switch (K) {
  case Kind::K_mutex:
  case Kind::K_rwlock:
  case Kind::K_spin:
  case Kind::K_cond:
  case Kind::K_user:
    return true;
  default:
    return false;
  }
}

bool Wanted::wants(const Hook &H) const {
  if (H.Rule == Rule::Wait)
    return Block || (Mutex && concernsMutexes(H.Kind));
  return wants(H.Rule);
}

bool Wanted::wants(Rule R) const {
  switch (R) {
  case Rule::Owned:
  case Rule::Release:
  case Rule::UserLock:
  case Rule::UserUnlock:
    return Block || Mutex;
  case Rule::Wait:
  case Rule::UserCall:
    return Block;
  case Rule::Create:
    return Threads;
  case Rule::Unload:
  case Rule::Leave:
    return Heap || Block || Mutex || Threads;
  default:
    return Heap;
  }
}

bool mprof::isHeap(Rule R) {
  switch (R) {
  case Rule::ALLOC:
  case Rule::REALLOC:
  case Rule::FREE:
  case Rule::DELETE:
  case Rule::DUP:
  case Rule::CALL:
  case Rule::CustomAlloc:
  case Rule::CustomFree:
  case Rule::CustomRealloc:
    return true;
  default:
    return false;
  }
}

/// What a call of \p F is by its attributes, or nothing: a Site without a call.
static std::optional<Site> customSite(const Function &F) {
  // A result that is returned in memory has its address passed first; it is no
  // parameter of the source, whose indices the annotation holds.
  const int Shift = F.hasStructRetAttr() ? 1 : 0;
  auto Has = [&](StringRef Mark, int &First, int &Second) {
    Attribute A = F.getFnAttribute(Mark);
    if (!A.isValid())
      return false;
    auto [One, Two] = A.getValueAsString().split(',');
    if (One.getAsInteger(10, First))
      return false;
    First += Shift;
    if (!Two.getAsInteger(10, Second))
      Second += Shift;
    return true;
  };
  int None;
  Site S = {nullptr, Rule::CustomAlloc, nullptr, -1, -1, -1, false};
  if (Has(mark::alloc, S.Size, S.Count))
    return S;
  S.Rule = Rule::CustomFree;
  if (Has(mark::free, S.Ptr, None))
    return S;
  S.Rule = Rule::CustomRealloc;
  if (Has(mark::realloc, S.Ptr, S.Size))
    return S;
  S.Size = -1;
  S.Rule = Rule::UserLock;
  if (Has(mark::lock, S.Ptr, None))
    return S;
  S.Rule = Rule::UserUnlock;
  if (Has(mark::unlock, S.Ptr, None))
    return S;
  S.Rule = Rule::UserCall;
  S.Ptr = -1;
  if (F.hasFnAttribute(mark::blocking))
    return S;
  return std::nullopt;
}

CallSites::CallSites(Module &M, const Wanted &W) {
  for (const Hook &H : hooks()) {
    if (!W.wants(H))
      continue;
    GlobalValue *Callee = M.getNamedValue(H.Symbol);
    if (!Callee || Callee->hasLocalLinkage())
      continue;
    // A library's own function, which no entry in another image can call.
    if (!isHeap(H.Rule) && !Callee->hasDefaultVisibility())
      continue;
    const Target T = {&H, prototype(H.Proto, M)};
    Hooked[Callee] = T;
    // A program may define malloc as an alias, and the optimizer then calls
    // what it stands for.
    if (isa<GlobalAlias>(Callee) && Callee->getAliaseeObject())
      Hooked.try_emplace(Callee->getAliaseeObject(), T);
  }
  for (const Function &F : M)
    if (std::optional<Site> S = customSite(F); S && W.wants(S->Rule))
      Custom[&F] = *S;
}

static void missed(const CallBase &Call, StringRef Callee, StringRef Why) {
  OptimizationRemarkEmitter ORE(Call.getFunction());
  ORE.emit([&] {
    return OptimizationRemarkMissed("mprof", "LeftAlone", &Call)
           << ore::NV("Callee", Callee) << " left alone: " << Why;
  });
}

/// Rules whose entry is always called, since what it does is no lock's, and
/// seldom.
static bool actsOnProcess(Rule R) {
  return R == Rule::Create || R == Rule::Unload || R == Rule::Leave;
}

/// What only concerns the caller, and nobody who gets a block or a lock of it.
static bool isOwnAffair(Rule R, int Ptr) {
  switch (R) {
  case Rule::CALL:
    return Ptr < 0;
  case Rule::ALLOC:
  case Rule::DUP:
  case Rule::CustomAlloc:
  case Rule::Owned:
  case Rule::Wait:
  case Rule::UserLock:
  case Rule::UserCall:
    return true;
  default:
    return false;
  }
}

static bool makesBlock(Rule R) {
  return R == Rule::ALLOC || R == Rule::REALLOC || R == Rule::DUP;
}

/// Why the place of \p Call keeps it from being rewritten, or empty.
static StringRef placeForbids(const CallBase &Call, Rule R, int Ptr) {
  switch (placeOf(Call)) {
  case Place::Ordinary:
    return {};
  case Place::Allocator:
    if (R == Rule::FREE || R == Rule::DELETE)
      return {};
    [[fallthrough]];
  case Place::Definition:
    return isHeap(R)
               ? "it is inside an allocator, which is counted where it is "
                 "called"
               : "";
  case Place::Synchronizer:
    return isHeap(R) || actsOnProcess(R)
               ? ""
               : "it is inside a lock, which is seen where it is called";
  case Place::Ignored:
    return isOwnAffair(R, Ptr) ? "the function is ignored" : "";
  }
  llvm_unreachable("unknown place");
}

/// The blocks that are reached without unwinding. Others run only once an
/// exception is thrown, where size matters and time does not.
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

void CallSites::findHooked(Function &F, SmallVectorImpl<Site> &Sites) const {
  if (Hooked.empty() || F.hasFnAttribute(Attribute::Naked))
    return;

  const bool FunctionIsCold =
      F.hasMinSize() || F.hasFnAttribute(Attribute::Cold);
  const size_t First = Sites.size();
  bool AnyRelease = false;
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
      missed(*Call, H.Symbol, "it is called with another prototype");
      continue;
    }
    if (StringRef Why = placeForbids(*Call, H.Rule, H.Ptr); !Why.empty()) {
      missed(*Call, H.Symbol, Why);
      // What the program's own operator new calls is what its callers without
      // sites are counted by.
      if (H.HasWord && makesBlock(H.Rule) &&
          placeOf(*Call) != Place::Definition)
        Sites.push_back(
            {Call, H.Rule, &H, H.Size, H.Count, H.Ptr, false, true});
      continue;
    }
    bool Release = H.Rule == Rule::FREE || H.Rule == Rule::DELETE;
    AnyRelease |= Release;
    Site S = {Call, H.Rule, &H, H.Size, H.Count, H.Ptr, false};
    if (Release)
      S.Plain = FunctionIsCold && !Call->isMustTailCall();
    if (S.Rule == Rule::Owned)
      S.Plain = FunctionIsCold || Call->isMustTailCall();
    if (S.Rule == Rule::CALL || actsOnProcess(S.Rule))
      S.Plain = true;
    Sites.push_back(S);
  }

  if (!AnyRelease || FunctionIsCold || !F.hasPersonalityFn())
    return;
  const DenseSet<const BasicBlock *> Warm = reachedWithoutUnwinding(F);
  for (Site &S : MutableArrayRef<Site>(Sites).drop_front(First))
    if (S.Rule == Rule::FREE || S.Rule == Rule::DELETE)
      S.Plain =
          !Warm.contains(S.Call->getParent()) && !S.Call->isMustTailCall();
}

/// Whether the arguments that \p S names are there and of a usable type.
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
      !S.Call->getType()->isPointerTy())
    return false;
  return Check(S.Size, false) && Check(S.Count, false) && Check(S.Ptr, true);
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
      Why = "nothing can follow a musttail call";
    if (Why.empty() && (!usable(S) || isa<CallBrInst>(Call)))
      Why = "it is called with other argument types";
    if (Why.empty())
      Sites.push_back(S);
    else
      missed(*Call, It->first->getName(), Why);
  }
}
