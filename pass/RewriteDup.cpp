// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites the calls that copy a string: strdup and strndup. The test of such a
// site needs the size of the copy, so the site measures the string
// (measureString). A site of strdup then copies the string itself if the
// runtime allows it (copyString). Where the site cannot measure the string, it
// always calls the entry.

#include "Callee.h"
#include "FastPath.h"
#include "IRUtil.h"
#include "RewriteHooked.h"
#include "SiteBlocks.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mprof;

/// Returns whether MemorySanitizer watches the module. Its strlen checks each
/// byte of the string, and its strdup does not.
static bool isForMSan(const Module &M) {
  return any_of(M, [](const Function &F) {
    return F.hasFnAttribute(Attribute::SanitizeMemory);
  });
}

/// Returns the name and the type of the function that measures the string that
/// \p S copies: strlen for strdup, strnlen for strndup. The function has the
/// same parameters as the function that \p S calls.
static std::pair<StringRef, FunctionType *> measure(Runtime &RT,
                                                    const Site &S) {
  return {
      S.H->Symbol == "strdup" ? "strlen" : "strnlen",
      FunctionType::get(RT.I64, S.Call->getFunctionType()->params(), false)};
}

/// Returns whether \p S, a site with rule Dup, can measure the string before it
/// calls strdup or strndup.
bool HookedRewriter::canMeasure(const Site &S) {
  const Function *In = S.Call->getFunction();
  if (S.H->Symbol == "wcsdup" || !isa<CallInst>(S.Call) ||
      S.Call->isMustTailCall() || S.Call->isNoBuiltin() ||
      In->hasFnAttribute("no-builtins") || In->hasOptSize() ||
      In->hasFnAttribute(Attribute::Cold) || isForMSan(RT.M))
    return false;
  auto [Name, Ty] = measure(RT, S);
  const GlobalValue *V = RT.M.getNamedValue(Name);
  auto *F = dyn_cast_or_null<Function>(V);
  return !V || (F && F->isDeclaration() && F->getFunctionType() == Ty);
}

/// Inserts the test of \p S, a call of strdup or strndup. The cold call counts
/// the size again, so the code before it reverts the subtraction:
///     %null = icmp eq ptr %s, null
///     br i1 %null, label %mprof.fast, label %mprof.measure
///   mprof.measure:
///     %len = call i64 @strlen(ptr %s)
///     %n = add i64 %len, 1
///     %ask = ...                           ; the test of rule Alloc
///     br i1 %ask, label %mprof.cold, label %mprof.fast, !prof !unlikely
///   mprof.fast:
///     %size = phi i64 [ 1, %... ], [ %n, %mprof.measure ]
///     %f = load ptr, ptr @__mprof_sized_strdup
///     %p = call ptr %f(ptr %s, i64 %size)
/// A program may have its own strdup, which may accept NULL, and the malloc
/// that the program calls may not be the malloc that libc's strdup calls. So
/// the site copies the string itself only if the runtime says so (copyString).
void HookedRewriter::measureString(const Site &S) {
  BasicBlock *Head = S.Call->getParent();
  Head->splitBasicBlock(S.Call, "mprof.measure");
  Builder B(S.Call);
  auto [Name, Ty] = measure(RT, S);
  SmallVector<Value *, 2> Args(S.Call->args());
  CallInst *Len = B.CreateCall(RT.M.getOrInsertFunction(Name, Ty), Args);
  Value *Bytes = B.CreateAdd(Len, ConstantInt::get(RT.I64, 1));
  Branches Of = branchToEntry(S, isDue(RT, B, Bytes));

  Builder AtCold(&Of.Cold->front());
  AtCold.SetCurrentDebugLocation(S.Call->getDebugLoc());
  countBack(RT, AtCold, Bytes);

  const bool HasSized = !Library.covers(S) && callsByWord(S);
  BasicBlock *Copy = HasSized ? copyString(S, Bytes, Of.Head) : nullptr;
  insertTest(
      Head, 0, "mprof.null", Of.Fast, unlikely(RT.Ctx),
      [&](Builder &At) { return At.CreateIsNull(S.Call->getArgOperand(0)); });
  if (HasSized)
    passSize(S, Bytes, Copy ? Copy : Of.Head);
  else
    callNext(S);
}

/// Makes the site of \p S, a call of strdup, copy the string if the word
/// __mprof_copy_malloc is not NULL. The word then holds the malloc to call.
///   mprof.inline:                        ; follows the test of \p Measure
///     %g = load ptr, ptr @__mprof_copy_malloc
///     %none = icmp eq ptr %g, null
///     br i1 %none, label %mprof.fast, label %mprof.malloc, !prof !unlikely
///   mprof.malloc:
///     %p = call ptr %g(i64 %n)
///     %failed = icmp eq ptr %p, null
///     br i1 %failed, label %mprof.cont, label %mprof.copy, !prof !unlikely
///   mprof.copy:
///     %q = call ptr @memcpy(ptr %p, ptr %s, i64 %n)
///     br label %mprof.cont
/// Such a copy takes fewer instructions than a call of strdup, which makes up
/// for the test. It calls memcpy and uses the result, because the intrinsic has
/// none, and %p would need a register that calls preserve. Returns
/// mprof.inline, or null if \p S must call a function: a call that may become a
/// jump needs no frame, and a copy would need one.
BasicBlock *HookedRewriter::copyString(const Site &S, Value *Bytes,
                                       BasicBlock *Measure) {
  Function *Memcpy = declared(
      RT, "memcpy",
      FunctionType::get(RT.PtrTy, {RT.PtrTy, RT.PtrTy, RT.I64}, false));
  if (S.H->Symbol != "strdup" || Switches::mayBecomeJump(S) || !Memcpy)
    return nullptr;
  BasicBlock *Fast = S.Call->getParent();
  BasicBlock *Cont = Fast->getSingleSuccessor();
  auto Make = [&](StringRef Name) {
    return BasicBlock::Create(RT.Ctx, Name, Fast->getParent(), Fast);
  };
  BasicBlock *Inline = Make("mprof.inline"), *Malloc = Make("mprof.malloc"),
             *Copy = Make("mprof.copy");
  Builder B(Inline, S.Call->getDebugLoc());
  Value *Next = B.CreateAlignedLoad(RT.PtrTy, RT.copyMallocWord(), Align(8));
  B.CreateCondBr(B.CreateIsNull(Next), Fast, Malloc, unlikely(RT.Ctx));

  Builder AtMalloc(Malloc, S.Call->getDebugLoc());
  CallInst *Block = AtMalloc.CreateCall(
      FunctionType::get(RT.PtrTy, {RT.I64}, false), Next, {Bytes});
  Block->setDoesNotThrow();
  Block->addRetAttr(Attribute::NoAlias);
  AtMalloc.CreateCondBr(AtMalloc.CreateIsNull(Block), Cont, Copy,
                        unlikely(RT.Ctx));

  Builder AtCopy(Copy, S.Call->getDebugLoc());
  CallInst *Result =
      AtCopy.CreateCall(Memcpy, {Block, S.Call->getArgOperand(0), Bytes});
  Result->setDoesNotThrow();
  AtCopy.CreateBr(Cont);
  for (PHINode &Phi : Cont->phis()) { // the result of S, if it is used
    Phi.addIncoming(Block, Malloc);
    Phi.addIncoming(Result, Copy);
  }
  Measure->getTerminator()->replaceSuccessorWith(Fast, Inline);
  return Inline;
}

/// Makes \p S call the function in __mprof_sized_<Symbol>, which has a last
/// parameter more than the hooked function: the size of the copy in bytes. \p
/// Size is this size if the control comes from \p Measure. Otherwise the string
/// is NULL, and the size is 1, so that a function that copies by the size reads
/// from NULL, like libc's strdup.
void HookedRewriter::passSize(const Site &S, Value *Size, BasicBlock *Measure) {
  BasicBlock *Fast = S.Call->getParent();
  PHINode *Phi = PHINode::Create(RT.I64, 2, "", position(Fast->begin()));
  for (BasicBlock *From : predecessors(Fast))
    Phi->addIncoming(From == Measure ? Size : ConstantInt::get(RT.I64, 1),
                     From);

  auto *Call = cast<CallInst>(S.Call);
  sayAtCall(*Call);
  keepReference(*Call->getCalledFunction());
  SmallVector<Type *, 3> Params(Call->getFunctionType()->params());
  Params.push_back(RT.I64);
  SmallVector<Value *, 3> Args(Call->args());
  Args.push_back(Phi);
  Builder B(Call);
  Value *Sized =
      B.CreateAlignedLoad(RT.PtrTy, RT.sizedWord(S.H->Symbol), Align(8));
  CallInst *New =
      B.CreateCall(FunctionType::get(Call->getType(), Params, false),
                   toCall(B, S, Sized), Args);
  New->setAttributes(Call->getAttributes());
  New->setCallingConv(Call->getCallingConv());
  New->setTailCallKind(Call->getTailCallKind());
  New->copyMetadata(*Call);
  New->takeName(Call);
  Call->replaceAllUsesWith(New);
  Call->eraseFromParent();
}
