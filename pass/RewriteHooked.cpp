// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites the calls of hooked functions (the functions of mprof/hooks.def,
// such as malloc). A call that is rewritten is called a site. The rule of a
// site decides which test is inserted before the call (FastPath.cpp). A site
// with rule Alloc:
//
//     %p = call ptr @malloc(i64 %n)
// becomes
//     %ask = ...                           ; the test of FastPath.cpp
//     br i1 %ask, label %mprof.cold, label %mprof.fast, !prof !unlikely
//   mprof.fast:
//     %f = load ptr, ptr @__mprof_next_malloc
//     %p = call ptr %f(i64 %n)
//     br label %mprof.cont
//   mprof.cont:
//     %r = phi ptr [ %p, %mprof.fast ], [ %q, %mprof.cold ]
//     ...
//   mprof.cold:                          ; at the end of the function
//     %q = notail call ptr @__mprof_malloc(i64 %n) cold nomerge
//     br label %mprof.cont
//
// __mprof_malloc is the runtime's entry, which replaces malloc. An invoke
// becomes two invokes with the same unwind destination, and mprof.cont is on
// the edge for a normal return. A musttail call stays in its basic block; a
// select chooses between the entry and the hooked function, which have the same
// prototype. Unconditional sites (see IsUnconditional in CallSites.h) always
// call the entry.
//
// A site of free calls the function in __mprof_free_off_page, if freesOffPage()
// is true.
//
// free(NULL) and realloc(NULL, n) are frequent in some programs. The test of
// rule Free is true for NULL and for each block that may be counted. So if this
// test is true, a second test checks for NULL:
//   mprof.masked:                        ; at the end of the function
//     %null = icmp eq ptr %b, null
//     br i1 %null, label %mprof.null, label %mprof.cold
// free(NULL) does nothing, and realloc(NULL, n) does the same as malloc(n). The
// optimizer uses this where it knows that a pointer is NULL, and the site uses
// it here, which makes up for a part of what the tests cost. So mprof.null is
// the code after the call of free, or it calls malloc in place of realloc:
//   mprof.null:
//     %g = load ptr, ptr @__mprof_next_malloc
//     %h = call ptr %g(i64 %n)
//     br label %mprof.cont
// If the optimizer must not know what free and realloc do (-fno-builtin),
// mprof.fast takes the place of mprof.null.
//
// Sites with rule Dup copy a string (RewriteDup.cpp).
//
// The variable __mprof_next_malloc holds the address of malloc. If the runtime
// intercepts malloc for code that was not rewritten, the variable holds the
// function that the interceptor calls. A call through the variable needs no PLT
// stub. In code for shared libraries, sites use other variables (see
// RewriteLibrary.cpp). If the call is no jump, an empty asm keeps %f in a
// register (toCall in Callee.h). The IR above does not show it.
//
// The site of a function that unlocks or may wait has no test. The site calls a
// stub, which jumps through the switch of the function (see
// RewriteSwitched.cpp):
//     %r = notail call i32 @__mprof_stub_pthread_mutex_lock(ptr %l) nomerge
// If the call could become a jump, a test keeps plain code for the usual case:
//     %on = load i32, ptr (@__mprof_switch_pthread_mutex_lock + 28)
//     %ask = icmp ne i32 %on, 0
//     br i1 %ask, label %mprof.cold, label %mprof.fast, !prof !unlikely
//   mprof.fast:
//     %f = load ptr, ptr @__mprof_switch_pthread_mutex_lock
//     %r = tail call i32 %f(ptr %l)
//
// If the call of an allocating function could become a jump, the function that
// contains it may need no frame on the stack. A call of the entry that is no
// jump would force a frame on it, also where the entry is not called. So the
// cold call is in a function of its own (OutlinedCall.h), or it is an asm,
// which needs no frame (callWithoutFrame):
//   mprof.cold:
//     %a = call { ptr, i64 } asm sideeffect "call __mprof_malloc@PLT", ...
//     %q = extractvalue { ptr, i64 } %a, 0
//     ret ptr %q
//
// All inserted instructions have the call's debug location and !nosanitize. The
// call of the entry is also in the scope with the block's type (BlockTypes.h).

#include "RewriteHooked.h"
#include "BlockTypes.h"
#include "Callee.h"
#include "FastPath.h"
#include "IRUtil.h"
#include "Marks.h"
#include "OutlinedCall.h"
#include "SiteBlocks.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace mprof;

//===----------------------------------------------------------------------===//
// Callees
//===----------------------------------------------------------------------===//

/// Returns the runtime's function that \p S calls in place of the hooked
/// function. In code for shared libraries, inserts a load of its address. If
/// the hooked function has a switch, returns the stub of the switch, if any.
FunctionCallee HookedRewriter::entry(IRBuilderBase &B, const Site &S) {
  FunctionType *Ty = S.Call->getFunctionType();
  if (Switches::cover(S.Rule)) {
    Function *Stub = Switched.stub(S);
    return {Ty, Stub ? Stub : Switched.target(B, S)};
  }
  return {Ty, Library.covers(S) ? Library.entry(B, S) : RT.hookEntry(S)};
}

/// Inserts a load of the address of the function that \p S calls. The code
/// loads the address from __mprof_next_<Symbol>, or from __mprof_free_off_page
/// if \p S frees a block after a test. In code for shared libraries,
/// it loads the address through the module hook of the function (a struct, see
/// RewriteLibrary.cpp). Returns null if \p S must call the hooked function
/// directly.
Value *HookedRewriter::next(IRBuilderBase &B, const Site &S) {
  if (!callsByWord(S))
    return nullptr;
  if (Library.covers(S))
    return B.CreateAlignedLoad(RT.PtrTy, Library.word(B, S), Align(8));
  keepReference(*S.Call->getCalledFunction());
  GlobalVariable *Word =
      freesOffPage(RT, S) ? RT.freeOffPageWord() : RT.nextWord(S.H->Symbol);
  return B.CreateAlignedLoad(RT.PtrTy, Word, Align(8));
}

/// Adds a reference to \p F to the module. The linker then takes \p F out of an
/// archive although the module no longer calls \p F directly. The runtime's
/// reference to \p F is weak and does not have this effect.
void HookedRewriter::keepReference(Function &F) {
  std::string Name = ("mprof.keep." + F.getName()).str();
  if (RT.M.getNamedValue(Name))
    return;
  auto *Reference = new GlobalVariable(RT.M, RT.PtrTy, true,
                                       GlobalValue::PrivateLinkage, &F, Name);
  appendToCompilerUsed(RT.M, {Reference});
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// Moves \p Call, which calls the entry, into the scope with the type.
void HookedRewriter::showType(CallBase &Call) {
  if (InTypeScope)
    Call.setDebugLoc(InTypeScope);
}

/// If next() finds an address for \p S, makes \p S call the function at this
/// address. The call then bypasses the runtime's interceptor.
void HookedRewriter::callNext(const Site &S) {
  Builder B(S.Call);
  const bool IsOffPage = freesOffPage(RT, S);
  if (Value *Next = next(B, S)) {
    callIndirectly(*S.Call, toCall(B, S, Next));
    if (auto *Call = dyn_cast<CallInst>(S.Call); Call && IsOffPage)
      Call->setTailCallKind(CallInst::TCK_NoTail);
  }
}

/// Makes \p S always call the runtime's entry in place of the hooked function.
void HookedRewriter::callEntryOnly(const Site &S) {
  Builder B(S.Call);
  FunctionCallee Entry = entry(B, S);
  if (Function *F = S.Call->getCalledFunction())
    keepReference(*F);
  retarget(*S.Call, S.Rule, Entry);
  showType(*S.Call);
}

/// Makes \p S, a musttail call, call a pointer that a select sets: either to
/// the runtime's entry or to the hooked function. Branches are not possible
/// here, because a musttail call must be directly followed by the return.
void HookedRewriter::selectCallee(const Site &S) {
  Builder B(S.Call);
  Value *Cond = mustAsk(RT, B, S);
  Value *Next = next(B, S);
  Value *Callee = B.CreateSelect(Cond, entry(B, S).getCallee(),
                                 Next ? Next : S.Call->getCalledOperand());
  cast<Instruction>(Callee)->setMetadata(LLVMContext::MD_prof,
                                         unlikely(RT.Ctx));
  S.Call->setAttributes(
      entryAttributes(RT.Ctx, S.Call->getAttributes(), S.Call->arg_size()));
  S.Call->setCalledOperand(Callee);
}

static bool isAllocation(const Site &S) {
  return S.Rule == Rule::Alloc || S.Rule == Rule::Realloc ||
         S.Rule == Rule::Dup;
}

/// Returns whether callWithoutFrame() can make the cold call of \p S.
/// - The asm calls a symbol, and in code for libraries the entry is the value
///   of a variable.
/// - Only the entries of C's functions accept every alignment of the stack, and
///   only these functions never throw.
/// - Stacks that are followed by frame pointers need the frame.
/// - The function must not be inlined any more, see callWithoutFrame().
bool HookedRewriter::canCallWithoutFrame(const Site &S) {
  const Function *In = S.Call->getFunction();
  StringRef Frame = In->getFnAttribute("frame-pointer").getValueAsString();
  return isAllocation(S) && S.H->HasWord && !S.H->Symbol.starts_with("_Z") &&
         !RT.IsForLibrary && (Frame.empty() || Frame == "none") &&
         !In->hasOptNone() && !In->hasFnAttribute(Attribute::AlwaysInline) &&
         !RT.IsForLTO &&
         RT.M.getCodeModel().value_or(CodeModel::Small) != CodeModel::Large &&
         Switches::mayBecomeJump(S);
}

/// Makes the code of \p Cold, which must be empty, for \p S: an asm that calls
/// the entry, and a return. Returns false if the processor has no such asm.
/// LLVM does not see that the asm is a call. The call may therefore stand in a
/// function without a frame, where the stack is not aligned, so the entry
/// aligns it. The unwind table is right at the call, because only the call
/// itself changes the stack pointer. The call overwrites the red zone, which
/// does not matter just before a return. To keep it there, the function must
/// not be inlined. The last operand of the asm is a number that no other call
/// has. Otherwise the optimizer would merge calls, and profiles would not tell
/// them apart.
bool HookedRewriter::callWithoutFrame(const Site &S, BasicBlock *Cold) {
  SmallVector<Type *, 5> Params, Results{S.Call->getType()};
  SmallVector<Value *, 5> Args(S.Call->args());
  Args.push_back(ConstantInt::get(RT.I64, NumWithoutFrame));
  for (Value *Arg : Args)
    Params.push_back(Arg->getType());
  append_range(Results, ArrayRef(Params).drop_back());
  auto *Ty = FunctionType::get(StructType::get(RT.Ctx, Results), Params, false);
  InlineAsm *Asm = RT.CPU.callWithoutFrame(Ty, (Prefix + S.H->Symbol).str());
  if (!Asm)
    return false;
  ++NumWithoutFrame;

  Builder B(Cold, S.Call->getDebugLoc());
  CallInst *Call = B.CreateCall(Asm, Args);
  Call->setDoesNotThrow();
  showType(*Call);
  Call->addFnAttr(Attribute::Cold);
  Cold->getParent()->addFnAttr(Attribute::NoInline);
  returnAfter(S, Cold, B.CreateExtractValue(Call, 0));
  return true;
}

/// Returns whether callOutlined() can make the cold call of \p S. Functions
/// with mprof_wrapper are recognized by their names.
bool HookedRewriter::canOutline(const Site &S) {
  const Function *In = S.Call->getFunction();
  return RT.CPU.outlinesCalls() && isAllocation(S) && !In->hasOptNone() &&
         !In->hasFnAttribute(mark::wrapper) && Switches::mayBecomeJump(S);
}

/// Makes the code of \p Cold, which must be empty, for \p S: a jump to a
/// function that calls the entry.
void HookedRewriter::callOutlined(const Site &S, BasicBlock *Cold) {
  Function *F = outlinedCall(
      RT, S, [&](IRBuilderBase &B) { return entry(B, S); },
      [&](CallBase &Call, FunctionCallee Entry) {
        retarget(Call, S.Rule, Entry);
      });
  Builder B(Cold, S.Call->getDebugLoc());
  SmallVector<Value *, 4> Args(S.Call->args());
  CallInst *Call = B.CreateCall(F, Args);
  Call->setTailCallKind(CallInst::TCK_Tail);
  Call->addFnAttr(Attribute::Cold);
  Call->addFnAttr(Attribute::NoMerge);
  returnAfter(S, Cold, Call);
}

/// Makes the code of \p Cold, which must be empty, for \p S: a call of the
/// entry. After this call and after the call of \p S, the same code runs.
void HookedRewriter::callAtCold(const Site &S, BasicBlock *Cold) {
  CallBase *Call = S.Call;
  auto *ColdCall = cast<CallBase>(Call->clone());
  ColdCall->insertInto(Cold, Cold->end());
  ColdCall->dropUnknownNonDebugMetadata();
  Builder AtCold(ColdCall);
  AtCold.SetCurrentDebugLocation(Call->getDebugLoc());
  retarget(*ColdCall, S.Rule, entry(AtCold, S));
  showType(*ColdCall);
  ColdCall->addFnAttr(Attribute::Cold);

  auto *Invoke = dyn_cast<InvokeInst>(Call);
  if (!Invoke)
    return join(S, Cold, ColdCall);
  BasicBlock *Cont = splitNormalEdge(Invoke);
  cast<InvokeInst>(ColdCall)->setNormalDest(Cont);
  for (PHINode &Phi : Invoke->getUnwindDest()->phis())
    Phi.addIncoming(Phi.getIncomingValueForBlock(Call->getParent()), Cold);
  mergeResults(S, Cont, Cold, ColdCall);
}

/// Inserts a branch before the call of \p S. If \p Cond holds, the branch leads
/// to a call of the runtime's entry at the end of the function. Otherwise the
/// branch leads to the call of \p S. Returns the basic blocks.
HookedRewriter::Branches HookedRewriter::branchToEntry(const Site &S,
                                                       Value *Cond) {
  BasicBlock *Head = S.Call->getParent();
  BasicBlock *Fast = Head->splitBasicBlock(S.Call, "mprof.fast");
  BasicBlock *Cold =
      BasicBlock::Create(RT.Ctx, "mprof.cold", Head->getParent());
  if (canOutline(S))
    callOutlined(S, Cold);
  else if (!canCallWithoutFrame(S) || !callWithoutFrame(S, Cold))
    callAtCold(S, Cold);

  Builder B(Head->getTerminator());
  B.SetCurrentDebugLocation(S.Call->getDebugLoc());
  B.CreateCondBr(Cond, Cold, Fast, unlikely(RT.Ctx));
  Head->getTerminator()->eraseFromParent();
  return {Head, Fast, Cold};
}

/// Inserts such a basic block that leads to \p IfNull if \p Ptr is NULL.
static void insertNullTest(BasicBlock *From, unsigned Edge, Value *Ptr,
                           BasicBlock *IfNull) {
  insertTest(From, Edge, "mprof.masked", IfNull, /*Weights=*/nullptr,
             [&](Builder &At) { return At.CreateIsNull(Ptr); });
}

static bool mayBeNull(const Site &S) {
  return !isNeverNull(S.Call->getArgOperand(S.Ptr), S.Call);
}

/// Returns whether the code may use what the C standard says about the function
/// that \p S calls.
static bool isBuiltin(const Site &S) {
  const Function *In = S.Call->getFunction();
  return callsByWord(S) && isa<CallInst>(S.Call) && !S.Call->isNoBuiltin() &&
         !In->hasFnAttribute("no-builtins") && !In->hasOptNone();
}

/// Makes a basic block for \p S, a call of realloc whose pointer is NULL: a
/// call of malloc. Then the same code runs as after \p S. Returns null if this
/// is not possible. A library may have a malloc of its own, so code for
/// libraries does not call malloc.
BasicBlock *HookedRewriter::callMalloc(const Site &S) {
  if (S.H->Symbol != "realloc" || !isBuiltin(S) || Library.covers(S))
    return nullptr;
  Function *Malloc =
      declared(RT, "malloc", FunctionType::get(RT.PtrTy, {RT.I64}, false));
  if (!Malloc)
    return nullptr;
  keepReference(*Malloc);
  BasicBlock *Null =
      BasicBlock::Create(RT.Ctx, "mprof.null", S.Call->getFunction());
  Builder B(Null, S.Call->getDebugLoc());
  Value *Next = B.CreateAlignedLoad(RT.PtrTy, RT.nextWord("malloc"), Align(8));
  CallInst *Call = B.CreateCall(Malloc->getFunctionType(), toCall(B, S, Next),
                                {S.Call->getArgOperand(S.Size)});
  Call->setDoesNotThrow();
  Call->setTailCallKind(cast<CallInst>(S.Call)->getTailCallKind());
  if (Switches::mayBecomeJump(S))
    returnAfter(S, Null, Call);
  else
    join(S, Null, Call);
  return Null;
}

/// Inserts the branches before the call of \p S, a site with rule Free or
/// Realloc. The test of the address is true for NULL, too. But NULL is never a
/// counted block, so for NULL a second test leads around the entry.
void HookedRewriter::branchUnlessNull(const Site &S) {
  Value *Ptr = S.Call->getArgOperand(S.Ptr);
  const bool MayBeNull = mayBeNull(S);
  Builder B(S.Call);
  if (S.Rule == Rule::Free) {
    Branches Of = branchToEntry(S, mayBeCounted(RT, B, S));
    if (MayBeNull)
      insertNullTest(Of.Head, 0, Ptr,
                     isBuiltin(S) ? Of.Cold->getSingleSuccessor() : Of.Fast);
    return;
  }
  BasicBlock *Null = MayBeNull ? callMalloc(S) : nullptr;
  Branches Of = branchToEntry(S, isSampleDue(RT, B, S));
  BasicBlock *Second =
      insertTest(Of.Head, 1, "mprof.second", Of.Cold, unlikely(RT.Ctx),
                 [&](Builder &At) { return mayBeCounted(RT, At, S); });
  if (MayBeNull)
    insertNullTest(Second, 0, Ptr, Null ? Null : Of.Fast);
}

/// Makes \p S call the target of the switch of its hooked function, through the
/// stub of the switch. The target is either the hooked function or the
/// runtime's entry. If the call of the target could become a jump, the entry
/// would not find the frame of the caller on the stack. So a test leads to a
/// call that is no jump, unless the entry is off. A musttail call is always a
/// jump, and profiles do not show its caller.
void HookedRewriter::callThroughSwitch(const Site &S) {
  Builder B(S.Call);
  sayAtCall(*S.Call); // the stub does not have the function's attributes
  if (!Switches::mayBecomeJump(S))
    return retarget(*S.Call, S.Rule, entry(B, S));
  branchToEntry(S, Switched.isOn(B, S));
  Builder AtFast(S.Call);
  callIndirectly(*S.Call, Switched.target(AtFast, S));
}

void HookedRewriter::rewrite(const Site &S) {
  InTypeScope = takeBlockType(*S.Call);
  if (S.OnlyBypassesInterceptor)
    return callNext(S);
  if (S.IsUnconditional || (S.Rule == Rule::Dup && !canMeasure(S)))
    return callEntryOnly(S);
  if (Switches::cover(S.Rule))
    return callThroughSwitch(S);
  if (S.Call->isMustTailCall())
    return selectCallee(S);
  switch (S.Rule) {
  case Rule::Dup:
    return measureString(S);
  case Rule::Free:
  case Rule::Realloc:
    branchUnlessNull(S);
    break;
  default: {
    Builder B(S.Call);
    branchToEntry(S, mustAsk(RT, B, S));
    break;
  }
  }
  callNext(S);
}
