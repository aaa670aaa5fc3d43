// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM splits a coroutine f into f itself, which runs up to the first
// suspension, and into f.resume, f.destroy and f.cleanup. The variables that
// live across a suspension are in the frame of the coroutine:
//
//     { resume function, destroy function, promise, ... }
//
// A handle is the address of the frame. Before the split, markCoroutines
// appends a word to the promise, and stores in it the code address of each
// suspension, just before the coroutine suspends:
//
//     leaq 1f(%rip), %rax         (x86-64)
//   1:                          ; after the instruction, as a return address
//     movq %rax, site(promise)
//
// The awaiting coroutine is found by the types in the promise: the handle is
// the only std::coroutine_handle, or an mprof::continuation (coroutine.h).
//
// After the split, describeCoroutines makes f.resume store the address of the
// frame on the stack, as struct mprof_coroutine_record. This works with
// exceptions, tail calls and other stacks, and lets other threads read the
// record. The 16 bytes before the code of f and f.resume are a struct
// mprof_coroutine_layout. rt/unwind/unwind.h declares both structs.

#include "Coroutines.h"
#include "Compat.h"
#include "IRUtil.h"
#include "Processor.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/DJB.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mprof;

/// The attribute of a marked coroutine. LLVM copies it to the parts of the
/// coroutine. The value is the fields of struct mprof_coroutine_layout after
/// its magic number, separated by commas.
static constexpr StringLiteral LayoutAttr = "mprof-coroutine";

// The numbers of rt/unwind/unwind.h.
static constexpr uint32_t LayoutMagic = 0x6d70636f;
static constexpr uint64_t RecordMagic = 0x93a1e5c76d70726f;
static constexpr uint32_t NoContinuation = ~0u;

/// The first two words of a frame: the resume and the destroy function.
static constexpr uint64_t FrameHeaderBytes = 16;

// --- before the split ---

/// Returns whether \p Ty is the class \p Name. LLVM appends ".N" to the name of
/// a type if another type has this name, too.
static bool isClass(const StructType *Ty, StringRef Name) {
  if (!Ty->hasName())
    return false;
  StringRef Rest = Ty->getName();
  if (!Rest.consume_front("struct.") && !Rest.consume_front("class."))
    return false;
  const auto [Base, Number] = Rest.rsplit('.');
  const bool IsNumbered =
      !Number.empty() &&
      Number.find_first_not_of("0123456789") == StringRef::npos;
  return (IsNumbered ? Base : Rest) == Name;
}

/// Returns whether \p Ty is std::coroutine_handle, whose inline namespace
/// depends on the library.
static bool isHandle(const StructType *Ty) {
  for (StringRef Name :
       {"std::coroutine_handle", "std::__n4861::coroutine_handle",
        "std::__1::coroutine_handle",
        "std::experimental::coroutines_v1::coroutine_handle"})
    if (isClass(Ty, Name))
      return true;
  return false;
}

namespace {
/// The handles in a promise, as offsets from its start.
struct Handles {
  SmallVector<uint64_t, 2> Plain, Declared;
};
} // namespace

static void findHandles(Type *Ty, uint64_t Offset, const DataLayout &DL,
                        Handles &Found) {
  auto *Struct = dyn_cast<StructType>(Ty);
  if (!Struct || Struct->isOpaque())
    return;
  if (isClass(Struct, "mprof::continuation")) {
    Found.Declared.push_back(Offset);
    return;
  }
  if (isHandle(Struct)) {
    Found.Plain.push_back(Offset);
    return;
  }
  const StructLayout *Layout = DL.getStructLayout(Struct);
  for (unsigned I = 0; I < Struct->getNumElements(); I++)
    findHandles(Struct->getElementType(I),
                Offset + uint64_t(Layout->getElementOffset(I)), DL, Found);
}

/// Returns the offset of the awaiting coroutine's handle in a promise of the
/// type \p Ty, or NoContinuation if the types do not tell it.
static uint32_t continuationIn(Type *Ty, const DataLayout &DL) {
  Handles Found;
  findHandles(Ty, 0, DL, Found);
  const auto &Offsets = Found.Declared.empty() ? Found.Plain : Found.Declared;
  return Offsets.size() == 1 ? uint32_t(Offsets.front()) : NoContinuation;
}

/// Returns the promise of the coroutine that \p Id begins, or null.
static AllocaInst *promiseOf(const IntrinsicInst &Id) {
  return dyn_cast<AllocaInst>(Id.getArgOperand(1)->stripPointerCasts());
}

/// Replaces \p Promise by a promise with one word more, and returns it.
static AllocaInst *appendWord(AllocaInst *Promise) {
  auto *Ty = StructType::get(Promise->getAllocatedType(),
                             PointerType::getUnqual(Promise->getContext()));
  auto *Longer =
      new AllocaInst(Ty, Promise->getType()->getAddressSpace(), nullptr,
                     std::max(Promise->getAlign(), Align(8)), "",
                     position(Promise->getIterator()));
  Longer->setDebugLoc(Promise->getDebugLoc());
  Longer->takeName(Promise);
  Promise->replaceAllUsesWith(Longer);
  Promise->eraseFromParent();
  return Longer;
}

/// Makes the coroutine store the address of the code at \p Save in \p Site. \p
/// Save begins a suspension. After it, another thread may resume the coroutine.
static void storeSite(Instruction *Save, AllocaInst *Promise,
                      uint64_t SiteOffset, InlineAsm &CodeAddress) {
  Builder B(Save);
  Value *Here = B.CreateCall(&CodeAddress);
  Value *Site =
      B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Promise, SiteOffset);
  B.CreateAlignedStore(Here, Site, Align(8), /*isVolatile=*/true);
}

/// Returns the call that begins the coroutine \p F, or null if there is none.
/// Adds the beginnings of its suspensions to \p Saves.
static IntrinsicInst *findSuspensions(Function &F,
                                      SmallVectorImpl<Instruction *> &Saves) {
  IntrinsicInst *Id = nullptr;
  for (BasicBlock &BB : F)
    for (Instruction &I : BB)
      if (auto *Call = dyn_cast<IntrinsicInst>(&I)) {
        if (Call->getIntrinsicID() == Intrinsic::coro_id)
          Id = Call;
        else if (Call->getIntrinsicID() == Intrinsic::coro_save)
          Saves.push_back(Call);
      }
  return Id;
}

static void markCoroutine(Function &F, InlineAsm &CodeAddress) {
  SmallVector<Instruction *, 8> Saves;
  IntrinsicInst *Id = findSuspensions(F, Saves);
  AllocaInst *Promise = Id ? promiseOf(*Id) : nullptr;
  if (!Promise || Promise->isArrayAllocation())
    return;
  const DataLayout &DL = F.getParent()->getDataLayout();
  Type *Ty = Promise->getAllocatedType();
  const uint64_t Begin = alignTo(FrameHeaderBytes, Promise->getAlign());
  uint32_t Continuation = continuationIn(Ty, DL);
  if (Continuation != NoContinuation)
    Continuation += uint32_t(Begin);

  const uint64_t SiteOffset = alignTo(DL.getTypeAllocSize(Ty), Align(8));
  Promise = appendWord(Promise);
  for (Instruction *Save : Saves)
    storeSite(Save, Promise, SiteOffset, CodeAddress);
  const uint32_t Name = djbHash(F.getName());
  F.addFnAttr(LayoutAttr, utostr(Name) + "," + utostr(Continuation) + "," +
                              utostr(Begin + SiteOffset));
}

void mprof::markCoroutines(Module &M) {
  const Processor *P = processorOf(M);
  auto *Ty = FunctionType::get(PointerType::getUnqual(M.getContext()), false);
  InlineAsm *CodeAddress = P ? P->codeAddress(Ty) : nullptr;
  if (!CodeAddress)
    return;
  for (Function &F : M)
    if (F.isPresplitCoroutine())
      markCoroutine(F, *CodeAddress);
}

// --- after the split ---

/// Puts the struct mprof_coroutine_layout before the code of \p F.
static void describe(Function &F) {
  SmallVector<uint32_t, 4> Words = {LayoutMagic};
  SmallVector<StringRef, 3> Fields;
  F.getFnAttribute(LayoutAttr).getValueAsString().split(Fields, ',');
  for (StringRef Field : Fields) {
    uint32_t Word = 0;
    Field.getAsInteger(10, Word);
    Words.push_back(Word);
  }
  F.setPrefixData(ConstantDataArray::get(F.getContext(), Words));
}

/// Makes the resume function \p F store a struct mprof_coroutine_record on its
/// stack. The record has the frame pointer of \p F, so \p F keeps one.
static void storeRecord(Function &F) {
  Builder B(&*F.getEntryBlock().getFirstInsertionPt());
  B.SetCurrentDebugLocation(DebugLoc());
  auto *Ty = StructType::get(B.getInt64Ty(), B.getPtrTy(), B.getPtrTy());
  AllocaInst *Record = B.CreateAlloca(Ty, nullptr, "mprof.coroutine");
  Record->setAlignment(Align(8));
  B.SetInsertPoint(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Fields[] = {B.getInt64(RecordMagic),
                     B.CreateIntrinsic(Intrinsic::frameaddress, {B.getPtrTy()},
                                       {B.getInt32(0)}),
                     F.getArg(0)};
  Value *Words = PoisonValue::get(Ty);
  for (unsigned I = 0; I < std::size(Fields); I++)
    Words = B.CreateInsertValue(Words, Fields[I], I);
  // The optimization at link time would split a record that is stored word by
  // word, and place the words apart.
  B.CreateAlignedStore(Words, Record, Align(8), /*isVolatile=*/true);
}

void mprof::describeCoroutines(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration() || !F.hasFnAttribute(LayoutAttr) || F.hasPrefixData())
      continue;
    // LLVM names the parts of f so. The destroy functions need no description,
    // because a coroutine that is destroyed awaits nothing.
    const bool Resumes = F.getName().ends_with(".resume");
    if (F.getName().ends_with(".destroy") || F.getName().ends_with(".cleanup"))
      continue;
    describe(F);
    if (Resumes && F.arg_size() > 0)
      storeRecord(F);
  }
}
