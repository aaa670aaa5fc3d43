// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sites of custom allocators. The call stays and gets code around it:
//
//     %p = call ptr @pool_get(i64 %n)
//     %d = call { i64, i1 } @mprof.countdown(i64 %n)
//     %ask = extractvalue { i64, i1 } %d, 1
//     br i1 %ask, label %cold, label %cont, !prof !unlikely
//   cold:
//     call void @__mprof_custom_alloc(ptr %p, i64 %n)
//     br label %cont
//
// and so on as hooks.def says. If the call is an invoke, what follows it lies
// on its normal edge: an allocator that throws has allocated nothing, and
// nothing is taken off the countdown, which only the runtime may find run out.
//
// This is done before the optimizer runs, which may inline the allocator or
// change its parameters. But the words must not be touched yet: malloc, as the
// optimizer knows it, changes no memory that the program sees, so a countdown
// would be carried across it in a register and overwrite what is subtracted
// there. So calls stand for the accesses until hooked sites are done:
//     declare { i64, i1 } @mprof.countdown(i64 %bytes)
//         ; subtracts, gives the rest and whether to ask
//     declare i1 @mprof.uncounted(ptr %block)
//         ; tests with the custom mask
//
// With -mprof-nested=outermost the call has around it, besides,
//     %a = call ptr @llvm.threadlocal.address.p0(ptr @__mprof_nested_frame)
//     %o = load volatile i64, ptr %a
//     %f = ptrtoint (call ptr @llvm.frameaddress.p0(i32 0))
//     %outer = icmp ugt i64 %o, %f
//     store volatile i64 (select i1 %outer, i64 %o, i64 %f), ptr %a
//     ; the same with __mprof_nested_return and llvm.returnaddress
//     %p = call ptr @pool_get(i64 %n)
//     %l = load volatile i64, ptr %a
//     store volatile i64 (select i1 %outer, i64 %l, i64 0), ptr %a
// where volatile does what the calls do for the other words: a store before an
// inlined malloc would be a dead one. Frames lie below those that called them,
// so a frame that is not above the site's was left without its second store.

#include "RewriteHooked.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "mprof/hooks.def"

using namespace llvm;
using namespace mprof;

static constexpr StringLiteral CountDownName = "mprof.countdown";
static constexpr StringLiteral TestName = "mprof.uncounted";

static Value *deferred(IRBuilderBase &B, StringRef Name, Type *Result,
                       Value *Arg) {
  Module &M = *B.GetInsertBlock()->getModule();
  FunctionCallee Callee = M.getOrInsertFunction(Name, Result, Arg->getType());
  auto *F = cast<Function>(Callee.getCallee());
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setOnlyAccessesInaccessibleMemory();
  return B.CreateCall(Callee, {Arg});
}

static Value *deferredCountDown(IRBuilderBase &B, Value *Bytes) {
  Type *Result = StructType::get(Bytes->getType(), B.getInt1Ty());
  return deferred(B, CountDownName, Result, Bytes);
}

static Value *deferredTest(IRBuilderBase &B, Value *Ptr) {
  return deferred(B, TestName, B.getInt1Ty(), Ptr);
}

/// Puts \p Left and \p Ask where \p Call has given both. The aggregate is left
/// only if the optimizer has made something else of it than what is in it.
static Value *replaceParts(IRBuilderBase &B, CallInst *Call, Value *Left,
                           Value *Ask) {
  for (User *U : make_early_inc_range(Call->users())) {
    auto *Part = dyn_cast<ExtractValueInst>(U);
    if (!Part)
      continue;
    Part->replaceAllUsesWith(Part->getIndices()[0] == 0 ? Left : Ask);
    Part->eraseFromParent();
  }
  Value *Both = PoisonValue::get(Call->getType());
  if (Call->use_empty())
    return Both;
  return B.CreateInsertValue(B.CreateInsertValue(Both, Left, 0), Ask, 1);
}

bool Rewriter::lowerDeferred() {
  bool Any = false;
  auto Lower = [&](StringRef Name, auto Make) {
    Function *F = M.getFunction(Name);
    if (!F)
      return;
    for (User *U : make_early_inc_range(F->users())) {
      auto *Call = cast<CallInst>(U);
      Builder B(Call);
      Call->replaceAllUsesWith(Make(B, Call));
      Call->eraseFromParent();
    }
    F->eraseFromParent();
    Any = true;
  };
  Lower(CountDownName, [&](Builder &B, CallInst *Call) {
    auto [Left, Ask] = countDown(B, Call->getArgOperand(0));
    return replaceParts(B, Call, Left, Ask);
  });
  Lower(TestName, [&](Builder &B, CallInst *Call) {
    return hasNone(B, Call->getArgOperand(0), "custom_mask");
  });
  return Any;
}

/// The end of a block before \p I that runs only if \p Cond.
static Instruction *onlyIf(Value *Cond, Instruction *I, const DebugLoc &Loc) {
  Instruction *Term = SplitBlockAndInsertIfThen(
      Cond, I->getIterator(), /*Unreachable=*/false, unlikely(I->getContext()));
  Term->setDebugLoc(Loc);
  Instruction *Branch =
      Term->getParent()->getSinglePredecessor()->getTerminator();
  Branch->setDebugLoc(Loc);
  return Term;
}

/// Where code goes that follows \p Call if it returns.
static Instruction *after(CallBase *Call) {
  if (auto *Invoke = dyn_cast<InvokeInst>(Call))
    return splitNormalEdge(Invoke)->getTerminator();
  return Call->getNextNode();
}

static CallInst *callCold(IRBuilderBase &B, FunctionCallee Entry,
                          ArrayRef<Value *> Args) {
  CallInst *Call = B.CreateCall(Entry, Args);
  Call->addFnAttr(Attribute::Cold);
  Call->addFnAttr(Attribute::NoMerge);
  Call->addFnAttr(Attribute::NoUnwind);
  Call->setTailCallKind(CallInst::TCK_NoTail);
  return Call;
}

//===----------------------------------------------------------------------===//
// What is called by an allocator
//===----------------------------------------------------------------------===//

Value *Rewriter::nested(IRBuilderBase &B, StringRef Name) {
  return B.CreateAlignedLoad(I64, B.CreateThreadLocalAddress(word(Name)),
                             Align(8), /*isVolatile=*/true);
}

void Rewriter::setNested(IRBuilderBase &B, StringRef Name, Value *V) {
  B.CreateAlignedStore(V, B.CreateThreadLocalAddress(word(Name)), Align(8),
                       /*isVolatile=*/true);
}

/// Stores the frame that has the allocators in it: with \p Enters this one
/// unless there is one further out, else only that. Returns whether there is.
Value *Rewriter::enterNested(IRBuilderBase &B, bool Enters) {
  Value *Outer = nested(B, "nested_frame");
  Value *Own = B.CreatePtrToInt(
      B.CreateIntrinsic(Intrinsic::frameaddress, {PtrTy}, {B.getInt32(0)}),
      I64);
  Value *IsOuter = B.CreateICmpUGT(Outer, Own);
  setNested(B, "nested_frame",
            B.CreateSelect(IsOuter, Outer, Enters ? Own : B.getInt64(0)));
  if (Enters) {
    Value *Return = B.CreatePtrToInt(
        B.CreateIntrinsic(Intrinsic::returnaddress, {}, {B.getInt32(0)}), I64);
    setNested(B, "nested_return",
              B.CreateSelect(IsOuter, nested(B, "nested_return"), Return));
  }
  return IsOuter;
}

/// What is outer may be so no more: the runtime takes out what it finds stale.
void Rewriter::restoreNested(IRBuilderBase &B, Value *IsOuter) {
  setNested(B, "nested_frame",
            B.CreateSelect(IsOuter, nested(B, "nested_frame"), B.getInt64(0)));
}

bool Rewriter::leaveNested(Function &F) {
  SmallVector<Instruction *, 4> Places;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (isa<LandingPadInst>(I))
      Places.push_back(&*I.getParent()->getFirstInsertionPt());
    else if (Call && Call->hasFnAttr(Attribute::ReturnsTwice))
      Places.push_back(after(Call));
  }
  for (Instruction *I : Places) {
    Builder B(I);
    // A call in a function with debug info needs a location, if none of a line.
    if (DISubprogram *SP = F.getSubprogram())
      B.SetCurrentDebugLocation(DILocation::get(Ctx, 0, 0, SP));
    enterNested(B, /*Enters=*/false);
  }
  return !Places.empty();
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

void Rewriter::rewriteCustomAlloc(const Site &S) {
  Builder Before(S.Call);
  Value *Bytes = bytes(Before, S);
  Value *IsOuter = nullptr;
  if (Nested == mprof::Nested::Outermost)
    IsOuter = enterNested(Before, /*Enters=*/true);
  Instruction *Next = after(S.Call);
  Builder After(Next);
  After.SetCurrentDebugLocation(S.Call->getDebugLoc());
  if (Nested == mprof::Nested::Outermost)
    restoreNested(After, IsOuter);
  Value *Cond = After.CreateExtractValue(deferredCountDown(After, Bytes), 1);
  Builder B(onlyIf(Cond, Next, S.Call->getDebugLoc()));
  callCold(B,
           entry(Nested == mprof::Nested::Each ? "custom_alloc_each"
                                               : "custom_alloc",
                 B.getVoidTy(), {PtrTy, I64}),
           {S.Call, Bytes});
}

void Rewriter::rewriteCustomFree(const Site &S) {
  Value *Ptr = S.Call->getArgOperand(S.Ptr);
  Builder Before(S.Call);
  Value *Cond = deferredTest(Before, Ptr);
  Builder B(onlyIf(Cond, S.Call, S.Call->getDebugLoc()));
  callCold(B, entry("custom_free", B.getVoidTy(), {PtrTy}), {Ptr});
}

void Rewriter::rewriteCustomRealloc(const Site &S) {
  const DebugLoc &Loc = S.Call->getDebugLoc();
  Value *Ptr = S.Call->getArgOperand(S.Ptr);
  Builder Before(S.Call);
  Value *Bytes = bytes(Before, S);
  Value *Counted = deferredCountDown(Before, Bytes);
  Value *Cond = Before.CreateOr(Before.CreateExtractValue(Counted, 1),
                                deferredTest(Before, Ptr));

  Instruction *BeginEnd = onlyIf(Cond, S.Call, Loc);
  Builder Begin(BeginEnd);
  CallInst *Token =
      callCold(Begin, entry("custom_realloc_begin", I64, {PtrTy}), {Ptr});
  BasicBlock *Asked = BeginEnd->getParent();
  PHINode *Phi = PHINode::Create(I64, 2, "", S.Call->getParent()->begin());
  Phi->setDebugLoc(Loc);
  for (BasicBlock *Pred : predecessors(S.Call->getParent()))
    Phi->addIncoming(
        Pred == Asked ? cast<Value>(Token) : ConstantInt::get(I64, 0), Pred);

  Value *IsOuter = nullptr;
  if (Nested == mprof::Nested::Outermost) {
    Builder Enter(S.Call);
    IsOuter = enterNested(Enter, /*Enters=*/true);
  }
  Instruction *Next = after(S.Call);
  if (Nested == mprof::Nested::Outermost) {
    Builder Restore(Next);
    Restore.SetCurrentDebugLocation(Loc);
    restoreNested(Restore, IsOuter);
  }
  Builder End(onlyIf(Cond, Next, Loc));
  Value *Left = End.CreateExtractValue(Counted, 0);
  callCold(End,
           entry(Nested == mprof::Nested::Each ? "custom_realloc_end_each"
                                               : "custom_realloc_end",
                 End.getVoidTy(), {I64, PtrTy, PtrTy, I64, I64}),
           {Phi, Ptr, S.Call, Bytes, Left});
}

/// What the user's locks and blocking calls have around them. The runtime's
/// notes lie in the caller's frame, since two calls share them.
void Rewriter::rewriteUserSync(const Site &S) {
  const DebugLoc &Loc = S.Call->getDebugLoc();
  const bool IsCall = S.Rule == Rule::UserCall;
  const StringRef Name = S.Rule == Rule::UserLock     ? "user_lock"
                         : S.Rule == Rule::UserUnlock ? "user_unlock"
                                                      : "user_call";
  // One for all sites of a function, which follow one another.
  Value *&Notes = UserNotes[S.Call->getFunction()];
  if (!Notes) {
    Builder Top(&*S.Call->getFunction()->getEntryBlock().getFirstInsertionPt());
    Top.SetCurrentDebugLocation(DebugLoc());
    Notes = Top.CreateAlloca(ArrayType::get(I64, MPROF_USER_WORDS), nullptr);
  }

  Builder Before(S.Call);
  Value *Cond = S.Rule == Rule::UserUnlock
                    ? hasWaiters(Before, S.Call->getArgOperand(S.Ptr))
                    : wantsKind(Before, IsCall ? Kind::K_call : Kind::K_user);
  SmallVector<Value *, 3> Args{Notes, S.Call->getCalledOperand()};
  if (!IsCall)
    Args.push_back(S.Call->getArgOperand(S.Ptr));
  SmallVector<Type *, 3> Types(Args.size(), PtrTy);

  Instruction *BeginEnd = onlyIf(Cond, S.Call, Loc);
  Builder Begin(BeginEnd);
  callCold(Begin, entry((Name + "_begin").str(), Begin.getVoidTy(), Types),
           Args);
  Builder End(onlyIf(Cond, after(S.Call), Loc));
  callCold(End, entry((Name + "_end").str(), End.getVoidTy(), {PtrTy}),
           {Notes});
}
