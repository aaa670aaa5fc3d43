// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes the IR, decides nothing.
//
// ALLOC, as two instructions of x86-64 (subq %fs:countdown@TPOFF, jbe) before
// the call, which goes through a word of the runtime as it would through the
// GOT; in a shared library a load of the offset comes first:
//
//     %p = call ptr @malloc(i64 %n)
// becomes
//     %a = call ptr @llvm.threadlocal.address.p0(ptr @__mprof_heap_countdown)
//     %c = load i64, ptr %a
//     %d = sub i64 %c, %n
//     store i64 %d, ptr %a
//     %ask = icmp ule i64 %c, %n
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
// A constant size goes through a register, as an empty asm's result: LLVM would
// make the subtraction an addition of its negative, of which no flag tells what
// the comparison asks, and so load, compare and store apart.
//
// FREE and DELETE have this in the place of the countdown, REALLOC both:
//     %m = load i64, ptr @__mprof_free_mask
//     %none = icmp eq i64 (and (ptrtoint %p), %m), 0
//
// Release has, for the lock %l, and Wait, for its kind,
//     %w = load i32, ptr (@__mprof_waiters + 4 * (%l >> 6 & 1023))
//     %some = icmp ne i32 %w, 0
//     %k = load i64, ptr @__mprof_sync_kinds
//     %wanted = icmp ne i64 (and %k, 1 << Kind), 0
// Owned has, with the owner's id from the lock,
//     %m = load i64, ptr @__mprof_owned_mask
//     %busy = icmp ne i64 (and (zext (or i32 %id, %w)), %m), 0
//
// An invoke becomes two with the same unwind destination, and mprof.cont lies
// on its normal edge. A musttail call keeps its block and gets its callee from
// a select, since the entry has the same prototype. DUP, CALL, Create, Unload,
// and releases and locks where size matters more than time, only change their
// callee.
//
// RewriteLibrary.cpp says what @__mprof_next_malloc and @__mprof_malloc are in
// code for shared libraries; RewriteCustom.cpp and RewriteModule.cpp make the
// rest.
//
// The word that a call of the heap goes through has the hooked function, or
// what lies beneath it where the runtime stands in front of it for code that
// was not rewritten. The jump of a PLT stub that is saved pays for a good part
// of the test before the call; calls of locks were measured to be no faster so.
//
// What is inserted has the call's debug location and !nosanitize: sanitizers
// would otherwise check, and slow down, accesses that are ours.

#include "RewriteHooked.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace mprof;

/// Whether the linker resolves data of this module's code at link time, so that
/// it needs no entry of the GOT. That is Clang's rule for extern data.
static bool dataIsLocal(const Module &M) {
  if (auto *Direct = mdconst::extract_or_null<ConstantInt>(
          M.getModuleFlag("direct-access-external-data")))
    return !Direct->isZero();
  return M.getPICLevel() == PICLevel::NotPIC ||
         M.getPIELevel() != PIELevel::Default;
}

Rewriter::Rewriter(Module &M, mprof::Nested Nested)
    : M(M), Ctx(M.getContext()), I64(Type::getInt64Ty(Ctx)),
      PtrTy(PointerType::getUnqual(Ctx)), WordsAreLocal(dataIsLocal(M)),
      IsForLibrary(M.getPICLevel() != PICLevel::NotPIC &&
                   M.getPIELevel() == PIELevel::Default),
      IsMusl(isForMusl(M)), Nested(Nested) {}

/// The global of an MPROF_WORD. Every word has 64 bits.
GlobalVariable *Rewriter::word(StringRef Name) {
  GlobalVariable *&Word = Words[Name];
  if (Word)
    return Word;
  const bool ThreadLocal = StringSwitch<bool>(Name)
#define MPROF_WORD(Name, ThreadLocal) .Case(#Name, ThreadLocal)
#include "mprof/hooks.def"
      ;
  Word =
      cast<GlobalVariable>(M.getOrInsertGlobal((Prefix + Name).str(), I64, [&] {
        return new GlobalVariable(M, I64, false, GlobalValue::ExternalLinkage,
                                  nullptr, Prefix + Name, nullptr,
                                  ThreadLocal ? GlobalValue::InitialExecTLSModel
                                              : GlobalValue::NotThreadLocal);
      }));
  // The code of an executable has its runtime in the executable, so its offset
  // from the thread pointer is a constant for the linker. That saves a load
  // which linkers leave in place for exported symbols.
  if (WordsAreLocal) {
    Word->setDSOLocal(true);
    if (ThreadLocal)
      Word->setThreadLocalMode(GlobalValue::LocalExecTLSModel);
  }
  return Word;
}

MDNode *mprof::unlikely(LLVMContext &Ctx) {
  return MDBuilder(Ctx).createBranchWeights(1, (1u << 20) - 1);
}

//===----------------------------------------------------------------------===//
// The fast path
//===----------------------------------------------------------------------===//

Value *Rewriter::bytes(IRBuilderBase &B, const Site &S) {
  Value *Size = B.CreateZExt(S.Call->getArgOperand(S.Size), I64);
  if (S.Count < 0)
    return Size;
  return B.CreateMul(Size, B.CreateZExt(S.Call->getArgOperand(S.Count), I64));
}

/// \p V, of which the optimizer does not know that it is a constant.
static Value *hidden(IRBuilderBase &B, Constant *V) {
  auto *Ty = FunctionType::get(V->getType(), V->getType(), false);
  CallInst *Call = B.CreateCall(
      InlineAsm::get(Ty, "", "=r,0", /*hasSideEffects=*/false), {V});
  Call->setDoesNotAccessMemory();
  Call->setDoesNotThrow();
  Call->addFnAttr(Attribute::WillReturn);
  return Call;
}

/// The comparison is unsigned, so that a size that no allocator can serve asks
/// too: it would make the countdown grow, and nothing would be counted from
/// then on.
Rewriter::Countdown Rewriter::countDown(IRBuilderBase &B, Value *Bytes) {
  if (auto *Known = dyn_cast<Constant>(Bytes))
    Bytes = hidden(B, Known);
  Value *Address = B.CreateThreadLocalAddress(word("heap_countdown"));
  Value *Before = B.CreateAlignedLoad(I64, Address, Align(8));
  Value *Left = B.CreateSub(Before, Bytes);
  B.CreateAlignedStore(Left, Address, Align(8));
  return {Left, B.CreateICmpULE(Before, Bytes)};
}

Value *Rewriter::hasNone(IRBuilderBase &B, Value *Ptr, StringRef Mask) {
  Value *Bits = B.CreateAlignedLoad(I64, word(Mask), Align(8));
  return B.CreateIsNull(B.CreateAnd(B.CreatePtrToInt(Ptr, I64), Bits));
}

/// A word that is not 0 while somebody waits for what \p Object points to, or
/// for a lock that lies alike. One load, which takes no line from others: the
/// words of locks that nobody waits for stay 0.
Value *Rewriter::waitersWord(IRBuilderBase &B, Value *Object) {
  GlobalVariable *&Table = Words["waiters"];
  Type *I32 = B.getInt32Ty();
  if (!Table) {
    Type *Ty = ArrayType::get(I32, 1024);
    Table = cast<GlobalVariable>(
        M.getOrInsertGlobal((Prefix + "waiters").str(), Ty));
    if (WordsAreLocal)
      Table->setDSOLocal(true);
  }
  Value *Slot = B.CreateAnd(B.CreateLShr(B.CreatePtrToInt(Object, I64), 6),
                            B.getInt64(1023));
  return B.CreateAlignedLoad(I32, B.CreateInBoundsGEP(I32, Table, Slot),
                             Align(4));
}

Value *Rewriter::hasWaiters(IRBuilderBase &B, Value *Object) {
  return B.CreateIsNotNull(waitersWord(B, Object));
}

/// Whether \p Lock has an owner or is wanted, and the runtime wants to know. No
/// branch for the mask, which would be one more where a loop waits for a
/// branch. The owner is read and not the lock's word, for which the processor
/// would have to wait: the unlock before has just changed that.
Value *Rewriter::isOwned(IRBuilderBase &B, Value *Lock, int Owner) {
  Type *I32 = B.getInt32Ty();
  Value *Id = B.CreateAlignedLoad(
      I32, B.CreateConstInBoundsGEP1_64(I32, Lock, Owner), Align(4));
  Value *Mask = B.CreateAlignedLoad(I64, word("owned_mask"), Align(8));
  Value *Both = B.CreateZExt(B.CreateOr(Id, waitersWord(B, Lock)), I64);
  return B.CreateIsNotNull(B.CreateAnd(Both, Mask));
}

/// Whether the runtime is to be asked about waits of kind \p K.
Value *Rewriter::wantsKind(IRBuilderBase &B, Kind K) {
  Value *Kinds = B.CreateAlignedLoad(I64, word("sync_kinds"), Align(8));
  return B.CreateIsNotNull(
      B.CreateAnd(Kinds, B.getInt64(uint64_t(1) << unsigned(K))));
}

/// The condition under which the runtime's entry stands in for the call.
Value *Rewriter::mustAsk(IRBuilderBase &B, const Site &S) {
  Value *Ptr = S.Ptr < 0 ? nullptr : S.Call->getArgOperand(S.Ptr);
  switch (S.Rule) {
  case Rule::ALLOC:
    return countDown(B, bytes(B, S)).Ask;
  case Rule::REALLOC:
    return B.CreateOr(countDown(B, bytes(B, S)).Ask,
                      hasNone(B, Ptr, "free_mask"));
  case Rule::FREE:
    return hasNone(B, Ptr, "free_mask");
  case Rule::DELETE:
    return hasNone(B, Ptr, "delete_mask");
  case Rule::Owned:
    return isOwned(B, Ptr, IsMusl ? S.H->MuslOwner : S.H->Owner);
  case Rule::Release:
    return hasWaiters(B, Ptr);
  case Rule::Wait:
    return wantsKind(B, S.H->Kind);
  default:
    break;
  }
  llvm_unreachable("rule without a test of its own");
}

//===----------------------------------------------------------------------===//
// Calls of the runtime
//===----------------------------------------------------------------------===//

AttributeList mprof::entryAttributes(LLVMContext &Ctx, AttributeList Attrs,
                                     unsigned NumParams) {
  AttributeMask FnMask;
  for (Attribute::AttrKind Kind :
       {Attribute::Memory, Attribute::AllocKind, Attribute::Builtin,
        Attribute::NoBuiltin, Attribute::NoCallback, Attribute::NoFree,
        Attribute::NoRecurse, Attribute::NoSync, Attribute::Speculatable,
        Attribute::WillReturn, Attribute::MustProgress})
    FnMask.addAttribute(Kind);
  FnMask.addAttribute("alloc-family");
  AttributeMask ParamMask;
  for (Attribute::AttrKind Kind :
       {Attribute::AllocatedPointer, Attribute::NoCapture, Attribute::NoFree,
        Attribute::ReadNone, Attribute::ReadOnly, Attribute::WriteOnly})
    ParamMask.addAttribute(Kind);

  Attrs = Attrs.removeFnAttributes(Ctx, FnMask);
  for (unsigned I = 0; I != NumParams; ++I)
    Attrs = Attrs.removeParamAttributes(Ctx, I, ParamMask);
  return Attrs;
}

FunctionCallee Rewriter::entry(StringRef Name, Type *Result,
                               ArrayRef<Type *> Params) {
  return entry(Name, FunctionType::get(Result, Params, false));
}

FunctionCallee Rewriter::entry(StringRef Name, FunctionType *Ty) {
  FunctionCallee Entry = M.getOrInsertFunction((Prefix + Name).str(), Ty);
  if (auto *F = dyn_cast<Function>(Entry.getCallee()))
    F->addFnAttr(Attribute::Cold);
  return Entry;
}

/// The runtime's entry itself.
Constant *Rewriter::hookEntry(const Site &S) {
  FunctionCallee Entry = entry(S.H->Symbol, S.Call->getFunctionType());
  // Of the hooked function's own attributes only those that its entry shares
  // by contract; it must not promise that operator new does not throw.
  auto *Decl = dyn_cast<Function>(Entry.getCallee());
  Function *Hooked = S.Call->getCalledFunction();
  if (Decl && Hooked && Hooked->isDeclaration()) {
    AttributeList Attrs =
        entryAttributes(Ctx, Hooked->getAttributes(), Hooked->arg_size());
    AttrBuilder Fn(Ctx);
    Fn.addAttribute(Attribute::Cold);
    for (Attribute::AttrKind Kind : {Attribute::NoUnwind, Attribute::AllocSize})
      if (Attribute A = Attrs.getFnAttr(Kind); A.isValid())
        Fn.addAttribute(A);
    Decl->setAttributes(Attrs.removeFnAttributes(Ctx).addFnAttributes(Ctx, Fn));
  }
  return cast<Constant>(Entry.getCallee());
}

/// What \p S is to call in the hooked function's place.
FunctionCallee Rewriter::hookEntry(IRBuilderBase &B, const Site &S) {
  FunctionType *Ty = S.Call->getFunctionType();
  return {Ty, hasModuleHook(S) ? moduleField(B, S, ModuleEntry) : hookEntry(S)};
}

/// Has \p Call say what code behind it depends on and its function's
/// declaration says, before it calls a pointer.
static void sayAtCall(CallBase &Call) {
  Function *F = Call.getCalledFunction();
  if (!F)
    return;
  LLVMContext &Ctx = Call.getContext();
  AttributeList Of = F->getAttributes(), At = Call.getAttributes();
  At = At.addRetAttributes(Ctx, AttrBuilder(Ctx, Of.getRetAttrs()));
  if (F->doesNotThrow())
    At = At.addFnAttribute(Ctx, Attribute::NoUnwind);
  Call.setAttributes(At);
}

/// Makes \p Call, of \p Rule, a call of \p Entry. It leaves its frame on the
/// stack, and is not merged with others if its return address is what a profile
/// shows. Of releases it shows nothing, so that landing pads stay small.
static void retarget(CallBase &Call, Rule R, FunctionCallee Entry) {
  if (!isa<Constant>(Entry.getCallee()))
    sayAtCall(Call);
  Call.setAttributes(entryAttributes(Call.getContext(), Call.getAttributes(),
                                     Call.arg_size()));
  Call.setCalledFunction(Entry);
  if (R != Rule::FREE && R != Rule::DELETE)
    Call.addFnAttr(Attribute::NoMerge);
  auto *CI = dyn_cast<CallInst>(&Call);
  if (CI && !CI->isMustTailCall())
    CI->setTailCallKind(CallInst::TCK_NoTail);
}

//===----------------------------------------------------------------------===//
// Sites of hooked functions
//===----------------------------------------------------------------------===//

BasicBlock *mprof::splitNormalEdge(InvokeInst *Invoke) {
  BasicBlock *From = Invoke->getParent(), *To = Invoke->getNormalDest();
  BasicBlock *Edge = BasicBlock::Create(From->getContext(), "mprof.cont",
                                        From->getParent(), From->getNextNode());
  BranchInst::Create(To, Edge)->setDebugLoc(Invoke->getDebugLoc());
  To->replacePhiUsesWith(From, Edge);
  Invoke->setNormalDest(Edge);
  return Edge;
}

/// Calls the entry instead of the call of \p S if \p Cond, out of line.
void Rewriter::branchToEntry(const Site &S, Value *Cond) {
  CallBase *Call = S.Call;
  BasicBlock *Head = Call->getParent();
  BasicBlock *Fast = Head->splitBasicBlock(Call, "mprof.fast");
  BasicBlock *Cold =
      BasicBlock::Create(Call->getContext(), "mprof.cold", Head->getParent());
  auto *ColdCall = cast<CallBase>(Call->clone());
  ColdCall->insertInto(Cold, Cold->end());
  ColdCall->dropUnknownNonDebugMetadata();
  Builder AtCold(ColdCall);
  AtCold.SetCurrentDebugLocation(Call->getDebugLoc());
  retarget(*ColdCall, S.Rule, hookEntry(AtCold, S));
  ColdCall->addFnAttr(Attribute::Cold);

  BasicBlock *Cont;
  if (auto *Invoke = dyn_cast<InvokeInst>(Call)) {
    Cont = splitNormalEdge(Invoke);
    cast<InvokeInst>(ColdCall)->setNormalDest(Cont);
    for (PHINode &Phi : Invoke->getUnwindDest()->phis())
      Phi.addIncoming(Phi.getIncomingValueForBlock(Fast), Cold);
  } else {
    // With the debug records behind the call, which speak of its result.
    BasicBlock::iterator Next = std::next(Call->getIterator());
    Next.setHeadBit(true);
    Cont = Fast->splitBasicBlock(Next, "mprof.cont");
    Fast->getTerminator()->setDebugLoc(Call->getDebugLoc());
    BranchInst::Create(Cont, Cold)->setDebugLoc(Call->getDebugLoc());
  }

  Builder B(Head->getTerminator());
  B.SetCurrentDebugLocation(Call->getDebugLoc());
  B.CreateCondBr(Cond, Cold, Fast, unlikely(Call->getContext()));
  Head->getTerminator()->eraseFromParent();

  if (Call->use_empty())
    return;
  PHINode *Phi = PHINode::Create(Call->getType(), 2, "", Cont->begin());
  Phi->setDebugLoc(Call->getDebugLoc());
  Phi->takeName(Call);
  Call->replaceAllUsesWith(Phi);
  Phi->addIncoming(Call, Fast);
  Phi->addIncoming(ColdCall, Cold);
}

/// The word that has the function which \p S, a call of the heap, is to make;
/// null for other calls. A definition of the module's own is called itself.
Value *Rewriter::next(IRBuilderBase &B, const Site &S) {
  Function *Hooked = S.Call->getCalledFunction(); // none if it is an alias
  if (!S.H || !S.H->HasWord || !Hooked || !Hooked->isDeclaration() ||
      !Hooked->hasDefaultVisibility())
    return nullptr;
  if (hasModuleHook(S))
    return B.CreateAlignedLoad(PtrTy, moduleField(B, S, ModuleWord), Align(8));
  // The runtime's word refers to it weakly.
  keepReference(*Hooked);
  GlobalVariable *&Word = Words[S.H->Symbol];
  if (!Word) {
    Word = cast<GlobalVariable>(
        M.getOrInsertGlobal((Prefix + "next_" + S.H->Symbol).str(), PtrTy));
    if (WordsAreLocal)
      Word->setDSOLocal(true);
  }
  return B.CreateAlignedLoad(PtrTy, Word, Align(8));
}

/// Makes \p Call one of \p Callee.
static void callIndirectly(CallBase &Call, Value *Callee) {
  sayAtCall(Call);
  Call.setCalledOperand(Callee);
}

/// Has \p F linked although the module no longer calls it: the runtime's
/// reference is weak, and takes nothing out of an archive.
void Rewriter::keepReference(Function &F) {
  std::string Name = ("mprof.keep." + F.getName()).str();
  if (M.getNamedValue(Name))
    return;
  auto *Reference =
      new GlobalVariable(M, PtrTy, true, GlobalValue::PrivateLinkage, &F, Name);
  appendToCompilerUsed(M, {Reference});
}

void Rewriter::rewriteHooked(const Site &S) {
  if (S.Beneath) {
    Builder Before(S.Call);
    Before.SetCurrentDebugLocation(S.Call->getDebugLoc());
    if (Value *Next = next(Before, S))
      callIndirectly(*S.Call, Next);
    return;
  }
  Builder B(S.Call);
  B.SetCurrentDebugLocation(S.Call->getDebugLoc());
  if (S.Rule == Rule::DUP || S.Plain) {
    FunctionCallee Entry = hookEntry(B, S);
    if (Function *F = S.Call->getCalledFunction())
      keepReference(*F);
    return retarget(*S.Call, S.Rule, Entry);
  }

  Value *Cond = mustAsk(B, S);
  if (!S.Call->isMustTailCall()) {
    branchToEntry(S, Cond);
    Builder Before(S.Call);
    Before.SetCurrentDebugLocation(S.Call->getDebugLoc());
    if (Value *Next = next(Before, S))
      callIndirectly(*S.Call, Next);
    return;
  }

  Value *Next = next(B, S);
  Value *Callee = B.CreateSelect(Cond, hookEntry(B, S).getCallee(),
                                 Next ? Next : S.Call->getCalledOperand());
  cast<Instruction>(Callee)->setMetadata(LLVMContext::MD_prof, unlikely(Ctx));
  S.Call->setAttributes(
      entryAttributes(Ctx, S.Call->getAttributes(), S.Call->arg_size()));
  S.Call->setCalledOperand(Callee);
}

void Rewriter::rewrite(const Site &S) {
  switch (S.Rule) {
  case Rule::CustomAlloc:
    return rewriteCustomAlloc(S);
  case Rule::CustomFree:
    return rewriteCustomFree(S);
  case Rule::CustomRealloc:
    return rewriteCustomRealloc(S);
  case Rule::UserLock:
  case Rule::UserUnlock:
  case Rule::UserCall:
    return rewriteUserSync(S);
  default:
    return rewriteHooked(S);
  }
}
