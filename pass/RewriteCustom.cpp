// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inserts code around calls of functions with an attribute: custom allocators,
// locks and blocking functions. The call itself stays. A call of a function
// with mprof_alloc becomes:
//
//     %p = call ptr @pool_get(i64 %n)
//     %d = call { i64, i1 } @mprof.countdown(i64 %n)
//     %ask = extractvalue { i64, i1 } %d, 1
//     br i1 %ask, label %cold, label %cont, !prof !unlikely
//   cold:
//     call void @__mprof_custom_alloc(ptr %p, i64 %n)
//     br label %cont
//
// The comment at MPROF_ATTRIBUTE in mprof/hooks.def shows the code of the other
// attributes. If the call is an invoke, the code after the call is on the edge
// for a normal return. So if the allocator throws, the code subtracts nothing
// from the countdown (the number of bytes until the next sample). If the code
// subtracted the size before the call, an exception could use up the countdown
// without a call of the runtime.
//
// These calls are rewritten before the optimizer runs, because the optimizer
// may inline the allocator or change its parameters. But the inserted code must
// not access the runtime's variables before the optimizer has run. The
// optimizer assumes that malloc changes no memory that the program can see. So
// it would keep the countdown in a register during a call of malloc, and then
// overwrite the value that the rewritten malloc has stored. Therefore the
// inserted code calls two functions in place of the accesses. After the
// optimizer has run, lowerDeferred replaces these calls by the accesses:
//
//     declare { i64, i1 } @mprof.countdown(i64 %bytes)
//         ; subtracts %bytes from the countdown; returns the new countdown,
//         ; and whether to call the runtime
//     declare i1 @mprof.uncounted(ptr %block)
//         ; returns whether (%block & __mprof_custom_mask) == 0
//
// With -mprof-nested=outermost, __mprof_nested_frame is the frame address of
// the function that called the outermost allocator that is running. The code
// around the call sets and clears this variable:
//
//     %a = call ptr @llvm.threadlocal.address.p0(ptr @__mprof_nested_frame)
//     %o = load volatile i64, ptr %a
//     %f = ptrtoint (call ptr @llvm.frameaddress.p0(i32 0))
//     %outer = icmp ugt i64 %o, %f
//     store volatile i64 (select i1 %outer, i64 %o, i64 %f), ptr %a
//     ; the same with __mprof_nested_return and llvm.returnaddress
//     %p = call ptr @pool_get(i64 %n)
//     %l = load volatile i64, ptr %a
//     store volatile i64 (select i1 %outer, i64 %l, i64 0), ptr %a
//
// These accesses are volatile. Otherwise the optimizer, which assumes that
// malloc does not read the variables, could remove the first store as dead.
//
// %outer is false if no allocator is running, or if the stored address %o is
// stale: an exception or longjmp has left an allocator before the second store.
// An address that is not above %f is always stale, because the frame of a
// caller has a higher address than %f.

#include "RewriteCustom.h"
#include "FastPath.h"
#include "IRUtil.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "mprof/hooks.def"

using namespace llvm;
using namespace mprof;

//===----------------------------------------------------------------------===//
// Deferred accesses
//===----------------------------------------------------------------------===//

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

/// Replaces each extractvalue of \p Call, a call of mprof.countdown, by \p Left
/// (element 0) or \p Ask (element 1). The optimizer may have made other uses of
/// the call. For these uses, returns an aggregate of \p Left and \p Ask.
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

bool mprof::lowerDeferred(Runtime &RT) {
  bool Any = false;
  auto Lower = [&](StringRef Name, auto Make) {
    Function *F = RT.M.getFunction(Name);
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
    auto [Left, Ask] = countDown(RT, B, Call->getArgOperand(0));
    return replaceParts(B, Call, Left, Ask);
  });
  Lower(TestName, [&](Builder &B, CallInst *Call) {
    return hasNone(RT, B, Call->getArgOperand(0), "custom_mask");
  });
  return Any;
}

//===----------------------------------------------------------------------===//
// Code around a call
//===----------------------------------------------------------------------===//

/// Inserts a basic block before \p I that runs only if \p Cond holds. Returns
/// the terminator of the new basic block.
static Instruction *onlyIf(Value *Cond, Instruction *I, const DebugLoc &Loc) {
  Instruction *Term = SplitBlockAndInsertIfThen(
      Cond, position(I->getIterator()), /*Unreachable=*/false,
      unlikely(I->getContext()));
  Term->setDebugLoc(Loc);
  Instruction *Branch =
      Term->getParent()->getSinglePredecessor()->getTerminator();
  Branch->setDebugLoc(Loc);
  return Term;
}

/// Returns the insertion point for code that runs after \p Call has returned
/// normally. New code goes before the returned instruction.
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
// Calls inside an allocator: -mprof-nested=outermost
//===----------------------------------------------------------------------===//

Value *CustomRewriter::loadNested(IRBuilderBase &B, StringRef Name) {
  return B.CreateAlignedLoad(RT.I64, B.CreateThreadLocalAddress(RT.word(Name)),
                             Align(8), /*isVolatile=*/true);
}

void CustomRewriter::storeNested(IRBuilderBase &B, StringRef Name, Value *V) {
  B.CreateAlignedStore(V, B.CreateThreadLocalAddress(RT.word(Name)), Align(8),
                       /*isVolatile=*/true);
}

/// Inserts code that updates __mprof_nested_frame, the frame address of the
/// function that called the outermost running allocator. If the variable's
/// value is above this function's frame address, the code does not change it.
/// Otherwise the code stores this function's frame address if \p Enters is
/// true, or 0 if \p Enters is false. Returns an i1 that is true if the code has
/// not changed the value.
Value *CustomRewriter::enterNested(IRBuilderBase &B, bool Enters) {
  Value *Outer = loadNested(B, "nested_frame");
  Value *Own = B.CreatePtrToInt(
      B.CreateIntrinsic(Intrinsic::frameaddress, {RT.PtrTy}, {B.getInt32(0)}),
      RT.I64);
  Value *IsOuter = B.CreateICmpUGT(Outer, Own);
  storeNested(B, "nested_frame",
              B.CreateSelect(IsOuter, Outer, Enters ? Own : B.getInt64(0)));
  if (Enters) {
    Value *Return = B.CreatePtrToInt(
        B.CreateIntrinsic(Intrinsic::returnaddress, {}, {B.getInt32(0)}),
        RT.I64);
    storeNested(
        B, "nested_return",
        B.CreateSelect(IsOuter, loadNested(B, "nested_return"), Return));
  }
  return IsOuter;
}

/// Inserts code that updates __mprof_nested_frame after the call. If \p IsOuter
/// holds, an outer allocator is running, and the code keeps the value of the
/// variable. Otherwise it stores 0. The code loads the value again, because the
/// runtime may have found the outer frame stale and stored 0.
void CustomRewriter::restoreNested(IRBuilderBase &B, Value *IsOuter) {
  storeNested(
      B, "nested_frame",
      B.CreateSelect(IsOuter, loadNested(B, "nested_frame"), B.getInt64(0)));
}

bool CustomRewriter::leaveNested(Function &F) {
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
    // In a function with debug info, each inserted call needs a debug location.
    // Line 0 means that the code has no source line.
    if (DISubprogram *SP = F.getSubprogram())
      B.SetCurrentDebugLocation(DILocation::get(RT.Ctx, 0, 0, SP));
    enterNested(B, /*Enters=*/false);
  }
  return !Places.empty();
}

//===----------------------------------------------------------------------===//
// Custom allocators
//===----------------------------------------------------------------------===//

/// Returns the block that \p S, a site with rule CustomAlloc, has allocated, or
/// null if the call failed.
static Value *blockOf(IRBuilderBase &B, const Site &S) {
  if (S.Out < 0)
    return S.Call;
  // The function stores the block at the address in its argument Out. If the
  // call failed, this argument may be NULL. Then the code loads a null pointer
  // from a local variable instead.
  Type *PtrTy = B.getPtrTy();
  IRBuilder<> Entry(&*S.Call->getFunction()->getEntryBlock().begin());
  Value *None = Entry.CreateAlloca(PtrTy);
  B.CreateStore(ConstantPointerNull::get(B.getPtrTy()), None);
  Value *From = B.CreateSelect(B.CreateIsNull(S.Call),
                               S.Call->getArgOperand(S.Out), None);
  return B.CreateAlignedLoad(PtrTy, From, Align(1));
}

void CustomRewriter::rewriteAlloc(const Site &S) {
  Builder Before(S.Call);
  Value *Bytes = bytes(Before, S);
  Value *IsOuter = nullptr;
  if (isOutermost())
    IsOuter = enterNested(Before, /*Enters=*/true);
  Instruction *Next = after(S.Call);
  Builder After(Next);
  After.SetCurrentDebugLocation(S.Call->getDebugLoc());
  if (isOutermost())
    restoreNested(After, IsOuter);
  Value *Cond = After.CreateExtractValue(deferredCountDown(After, Bytes), 1);
  Builder B(onlyIf(Cond, Next, S.Call->getDebugLoc()));
  callCold(B,
           RT.function(Nested == mprof::Nested::Each ? "custom_alloc_each"
                                                     : "custom_alloc",
                       B.getVoidTy(), {RT.PtrTy, RT.I64}),
           {blockOf(B, S), Bytes});
}

void CustomRewriter::rewriteFree(const Site &S) {
  Value *Ptr = S.Call->getArgOperand(S.Ptr);
  Builder Before(S.Call);
  Value *Cond = deferredTest(Before, Ptr);
  Builder B(onlyIf(Cond, S.Call, S.Call->getDebugLoc()));
  callCold(B, RT.function("custom_free", B.getVoidTy(), {RT.PtrTy}), {Ptr});
}

/// Inserts a call of __mprof_custom_realloc_begin before the call of \p S. The
/// inserted call runs only if \p Cond holds. Returns its result, or 0 if the
/// inserted call did not run.
Value *CustomRewriter::reallocToken(const Site &S, Value *Cond) {
  const DebugLoc &Loc = S.Call->getDebugLoc();
  Instruction *BeginEnd = onlyIf(Cond, S.Call, Loc);
  Builder Begin(BeginEnd);
  CallInst *Token =
      callCold(Begin, RT.function("custom_realloc_begin", RT.I64, {RT.PtrTy}),
               {S.Call->getArgOperand(S.Ptr)});
  BasicBlock *Asked = BeginEnd->getParent();
  PHINode *Phi =
      PHINode::Create(RT.I64, 2, "", position(S.Call->getParent()->begin()));
  Phi->setDebugLoc(Loc);
  for (BasicBlock *Pred : predecessors(S.Call->getParent()))
    Phi->addIncoming(
        Pred == Asked ? cast<Value>(Token) : ConstantInt::get(RT.I64, 0), Pred);
  return Phi;
}

void CustomRewriter::rewriteRealloc(const Site &S) {
  const DebugLoc &Loc = S.Call->getDebugLoc();
  Value *Ptr = S.Call->getArgOperand(S.Ptr);
  Builder Before(S.Call);
  Value *Bytes = bytes(Before, S);
  Value *Counted = deferredCountDown(Before, Bytes);
  Value *Cond = Before.CreateOr(Before.CreateExtractValue(Counted, 1),
                                deferredTest(Before, Ptr));
  Value *Token = reallocToken(S, Cond);

  Value *IsOuter = nullptr;
  if (isOutermost()) {
    Builder Enter(S.Call);
    IsOuter = enterNested(Enter, /*Enters=*/true);
  }
  Instruction *Next = after(S.Call);
  if (isOutermost()) {
    Builder Restore(Next);
    Restore.SetCurrentDebugLocation(Loc);
    restoreNested(Restore, IsOuter);
  }
  Builder End(onlyIf(Cond, Next, Loc));
  Value *Left = End.CreateExtractValue(Counted, 0);
  callCold(End,
           RT.function(Nested == mprof::Nested::Each ? "custom_realloc_end_each"
                                                     : "custom_realloc_end",
                       End.getVoidTy(),
                       {RT.I64, RT.PtrTy, RT.PtrTy, RT.I64, RT.I64}),
           {Token, Ptr, S.Call, Bytes, Left});
}

//===----------------------------------------------------------------------===//
// The user's locks and blocking calls
//===----------------------------------------------------------------------===//

/// Returns memory in the stack frame of \p F that the rewritten code passes to
/// __mprof_user_lock_begin, __mprof_user_lock_end and similar functions. All
/// rewritten calls in \p F share this memory, because they run one after
/// another.
Value *CustomRewriter::userNotes(Function &F) {
  Value *&Notes = UserNotes[&F];
  if (!Notes) {
    Builder Top(&*F.getEntryBlock().getFirstInsertionPt());
    Top.SetCurrentDebugLocation(DebugLoc());
    Notes = Top.CreateAlloca(ArrayType::get(RT.I64, MPROF_USER_WORDS), nullptr);
  }
  return Notes;
}

/// Inserts a call of __mprof_<Name>_begin before the call of \p S, and a call
/// of __mprof_<Name>_end after it. For example, Name is user_lock. Both
/// inserted calls run under the same condition.
void CustomRewriter::rewriteUserSync(const Site &S) {
  const DebugLoc &Loc = S.Call->getDebugLoc();
  const bool IsCall = S.Rule == Rule::UserCall;
  const StringRef Name = S.Rule == Rule::UserLock     ? "user_lock"
                         : S.Rule == Rule::UserUnlock ? "user_unlock"
                                                      : "user_call";
  Value *Notes = userNotes(*S.Call->getFunction());
  Builder Before(S.Call);
  Value *Cond =
      S.Rule == Rule::UserUnlock
          ? hasWaiters(RT, Before, S.Call->getArgOperand(S.Ptr))
          : wantsKind(RT, Before, IsCall ? WaitKind::K_call : WaitKind::K_user);
  SmallVector<Value *, 3> Args{Notes, S.Call->getCalledOperand()};
  if (!IsCall)
    Args.push_back(S.Call->getArgOperand(S.Ptr));
  SmallVector<Type *, 3> Types(Args.size(), RT.PtrTy);

  Instruction *BeginEnd = onlyIf(Cond, S.Call, Loc);
  Builder Begin(BeginEnd);
  callCold(Begin,
           RT.function((Name + "_begin").str(), Begin.getVoidTy(), Types),
           Args);
  Builder End(onlyIf(Cond, after(S.Call), Loc));
  callCold(End, RT.function((Name + "_end").str(), End.getVoidTy(), {RT.PtrTy}),
           {Notes});
}

void CustomRewriter::rewrite(const Site &S) {
  switch (S.Rule) {
  case Rule::CustomAlloc:
    return rewriteAlloc(S);
  case Rule::CustomFree:
    return rewriteFree(S);
  case Rule::CustomRealloc:
    return rewriteRealloc(S);
  default:
    return rewriteUserSync(S);
  }
}
