// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what the source says about functions, before the optimizer runs, and
// leaves it in the IR as string attributes:
//
//   define ptr @pool_get(i64 %n) "mprof-alloc"="0"      ; of the annotation
//     call ptr @malloc(i64 %n) "mprof-place"="allocator" ; where it was written
//
// A call keeps its attributes when it is inlined into another function, so the
// place of a call is that of the source at every optimization level. A call
// that the optimizer itself makes (calloc of malloc and memset) has no place
// and takes that of the function it is in. Modules without marks, which most
// are, get no attribute at all.
//
// The annotations are removed from llvm.global.annotations, where they would
// keep functions alive that nobody calls.

#include "Marks.h"
#include "CallSites.h"
#include "MProfPass.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SpecialCaseList.h"

using namespace llvm;
using namespace mprof;

static constexpr StringLiteral PlaceAttr = "mprof-place";

Place mprof::placeOf(const CallBase &Call) {
  auto Read = [](Attribute A) {
    return StringSwitch<Place>(A.getValueAsString())
        .Case("ignored", Place::Ignored)
        .Case("allocator", Place::Allocator)
        .Case("definition", Place::Definition)
        .Case("synchronizer", Place::Synchronizer)
        .Default(Place::Ordinary);
  };
  Attribute A = Call.getAttributes().getFnAttr(PlaceAttr);
  return Read(A.isValid() ? A : Call.getFunction()->getFnAttribute(PlaceAttr));
}

/// Applies "mprof.<Spelling>[:<index>,...]"; false if hooks.def has no such.
static bool applyAnnotation(Function &F, StringRef Annotation) {
  auto [Spelling, Indices] = Annotation.split(':');
  size_t NumArgs = Indices.empty() ? 0 : Indices.count(',') + 1;
  bool Numbers = all_of(Indices, [](char C) { return isDigit(C) || C == ','; });
#define MPROF_ATTRIBUTE(Name, Min, Max)                                        \
  if (Spelling == #Name && Numbers && NumArgs >= Min && NumArgs <= Max) {      \
    F.addFnAttr(mark::Name, Indices);                                          \
    return true;                                                               \
  }
#include "mprof/hooks.def"
  return false;
}

static void readAnnotations(Module &M) {
  GlobalVariable *Annotations = M.getNamedGlobal("llvm.global.annotations");
  if (!Annotations || !Annotations->hasInitializer())
    return;
  auto *Entries = dyn_cast<ConstantArray>(Annotations->getInitializer());
  if (!Entries)
    return;

  SmallVector<Constant *, 16> Others;
  for (Value *Operand : Entries->operands()) {
    auto *Entry = cast<Constant>(Operand);
    auto *F =
        dyn_cast<Function>(Entry->getAggregateElement(0u)->stripPointerCasts());
    auto *Text = dyn_cast<GlobalVariable>(
        Entry->getAggregateElement(1u)->stripPointerCasts());
    auto *Data = Text && Text->hasInitializer()
                     ? dyn_cast<ConstantDataArray>(Text->getInitializer())
                     : nullptr;
    StringRef Annotation =
        Data && Data->isCString() ? Data->getAsCString() : "";
    if (!F || !Annotation.consume_front("mprof.")) {
      Others.push_back(Entry);
      continue;
    }
    if (!applyAnnotation(*F, Annotation))
      M.getContext().emitError("mprof: unknown annotation 'mprof." +
                               Annotation + "' of '" + F->getName() + "'");
  }
  if (Others.size() == Entries->getNumOperands())
    return;

  if (!Others.empty()) {
    auto *Ty = ArrayType::get(Others.front()->getType(), Others.size());
    auto *Kept = new GlobalVariable(M, Ty, Annotations->isConstant(),
                                    Annotations->getLinkage(),
                                    ConstantArray::get(Ty, Others));
    Kept->copyAttributesFrom(Annotations);
    Kept->takeName(Annotations);
  }
  Annotations->eraseFromParent();
}

static bool isListed(const SpecialCaseList &List, const Function &F) {
  const Module &M = *F.getParent();
  if (List.inSection("mprof", "fun", F.getName()) ||
      List.inSection("mprof", "src", M.getSourceFileName()))
    return true;
  // With debug info, functions of headers are known by their header too.
  const DISubprogram *SP = F.getSubprogram();
  return SP && List.inSection("mprof", "src", SP->getFilename());
}

static constexpr StringLiteral BarrierAttr = "mprof-barrier";

/// Lets \p F look as if it read its arguments and changed memory. Of a free
/// that does nothing, as that of an allocator that never gives memory back, the
/// optimizer would remove the calls before they are counted, or their
/// arguments.
static void addBarrier(Function &F) {
  LLVMContext &Ctx = F.getContext();
  SmallVector<Value *, 4> Args(make_pointer_range(F.args()));
  std::string Constraints;
  for (size_t I = 0; I < Args.size(); ++I)
    Constraints += "r,";
  auto *Ty = FunctionType::get(Type::getVoidTy(Ctx),
                               F.getFunctionType()->params(), false);
  auto *Asm = InlineAsm::get(Ty, "", Constraints + "~{memory}",
                             /*hasSideEffects=*/true);
  auto *Call = CallInst::Create(
      Ty, Asm, Args, "", F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Call->setDoesNotThrow();
  Call->addFnAttr(Attribute::get(Ctx, BarrierAttr));
}

void mprof::removeBarriers(Function &F) {
  if (F.getFnAttribute(PlaceAttr).getValueAsString() != "definition")
    return;
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (auto *Call = dyn_cast<CallBase>(&I);
        Call && Call->hasFnAttr(BarrierAttr))
      Call->eraseFromParent();
}

/// Marks the program's own definitions of hooked functions as what they are.
/// They are not to be inlined, or the calls that are counted would be gone.
static void markDefinitions(Module &M) {
  for (const Hook &H : hooks()) {
    GlobalValue *GV = M.getNamedValue(H.Symbol);
    if (!GV || GV->hasLocalLinkage() || GV->isDeclarationForLinker())
      continue;
    auto *F = dyn_cast_or_null<Function>(GV->getAliaseeObject());
    // Another function may have the name, but not with this type.
    if (!F || F->isDeclaration() ||
        F->getFunctionType() != prototype(H.Proto, M))
      continue;
    const bool IsNew =
        !F->hasFnAttribute(PlaceAttr); // or known by another name
    F->addFnAttr(PlaceAttr, isHeap(H.Rule) ? "definition" : "synchronizer");
    if (F->hasFnAttribute(Attribute::AlwaysInline))
      continue;
    F->addFnAttr(Attribute::NoInline);
    if (IsNew && isHeap(H.Rule) && !F->hasFnAttribute(Attribute::Naked))
      addBarrier(*F);
  }
}

/// The parameter that has the block, by the attribute allocptr, or nothing.
static std::optional<unsigned> blockParam(const Function &F) {
  for (const Argument &Arg : F.args())
    if (Arg.hasAttribute(Attribute::AllocatedPointer))
      return Arg.getArgNo();
  return std::nullopt;
}

/// Marks \p F as its attributes allocsize and allockind have it. Clang makes
/// allocsize of alloc_size, and nothing of its others; allockind is other
/// languages'.
static void markByAllocSize(Function &F) {
  AllocFnKind Kind = AllocFnKind::Unknown;
  if (Attribute A = F.getFnAttribute(Attribute::AllocKind); A.isValid())
    Kind = A.getAllocKind();
  const bool IsRealloc = (Kind & AllocFnKind::Realloc) != AllocFnKind::Unknown;
  const bool IsFree = (Kind & AllocFnKind::Free) != AllocFnKind::Unknown;
  const std::optional<unsigned> Block = blockParam(F);
  if (IsFree && Block)
    F.addFnAttr(mark::free, utostr(*Block));
  Attribute Size = F.getFnAttribute(Attribute::AllocSize);
  if (IsFree || !Size.isValid())
    return;
  auto [One, Two] = Size.getAllocSizeArgs();
  if (!IsRealloc)
    F.addFnAttr(mark::alloc, utostr(One) + (Two ? "," + utostr(*Two) : ""));
  else if (Block && !Two)
    F.addFnAttr(mark::realloc, utostr(*Block) + "," + utostr(One));
}

/// What has an mprof attribute of its own is what that says; so is a hooked
/// function. The functions of libgc have alloc_size, too, but nothing tells
/// when their objects die but libgc.
static void markAllocSizes(Module &M) {
  StringSet<> Known;
  for (const Hook &H : hooks())
    Known.insert(H.Symbol);
  for (Function &F : M)
    if (!F.isIntrinsic() && !F.hasFnAttribute(mark::alloc) &&
        !F.hasFnAttribute(mark::free) && !F.hasFnAttribute(mark::realloc) &&
        !F.hasFnAttribute(mark::wrapper) && !F.hasFnAttribute(mark::ignore) &&
        !Known.contains(F.getName()) && !F.getName().starts_with("GC_"))
      markByAllocSize(F);
}

static bool isCustomAllocator(const Function &F) {
  return F.hasFnAttribute(mark::alloc) || F.hasFnAttribute(mark::free) ||
         F.hasFnAttribute(mark::realloc);
}

void mprof::markModule(Module &M, const SpecialCaseList *Ignorelist,
                       const Options &Opts) {
  readAnnotations(M);
  if (Opts.AllocSize)
    markAllocSizes(M);
  markDefinitions(M);
  bool Any = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    if (Ignorelist && isListed(*Ignorelist, F))
      F.addFnAttr(mark::ignore);
    if (isCustomAllocator(F) && Opts.Nested != Nested::Each) {
      if (!F.hasFnAttribute(PlaceAttr))
        F.addFnAttr(PlaceAttr, "allocator");
    } else if (F.hasFnAttribute(mark::lock) || F.hasFnAttribute(mark::unlock) ||
               F.hasFnAttribute(mark::blocking))
      F.addFnAttr(PlaceAttr, "synchronizer");
    else if (F.hasFnAttribute(mark::ignore) && !F.hasFnAttribute(PlaceAttr))
      F.addFnAttr(PlaceAttr, "ignored");
    Any |= F.hasFnAttribute(PlaceAttr);
  }
  if (!Any)
    return;

  // All calls, not only those that are sites now: an indirect one may turn out
  // to be of malloc. "ordinary" is needed because a call may be inlined into a
  // marked function, whose place is not its own.
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    Attribute Own = F.getFnAttribute(PlaceAttr);
    Attribute Mark = Attribute::get(M.getContext(), PlaceAttr,
                                    Own.isValid() ? Own.getValueAsString()
                                                  : StringRef("ordinary"));
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (!isa<IntrinsicInst>(Call) && !Call->isInlineAsm())
          Call->addFnAttr(Mark);
  }
}
