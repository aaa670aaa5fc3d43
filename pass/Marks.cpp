// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs before the optimizer. Turns MProf's annotations of functions into string
// attributes, and records for each call the kind of function that contains the
// call in the source (its place, see Place in Marks.h):
//
//   define ptr @pool_get(i64 %n) "mprof-alloc"="0"        ; the annotation
//     call ptr @malloc(i64 %n) "mprof-place"="allocator"  ; the call's place
//
// A call keeps its attributes when it is inlined into another function. So the
// place of a call is the same at every optimization level. A call that the
// optimizer itself creates, such as a calloc from malloc and memset, has no
// such attribute. The place of this call is that of the function that contains
// it. Most modules have no annotated functions and define no function of
// mprof/hooks.def. The calls in these modules get no attribute.
//
// The annotations are removed from llvm.global.annotations, because that
// variable would keep unused functions alive.

#include "Marks.h"
#include "Compat.h"
#include "Hooks.h"
#include "Options.h"
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

/// Adds to \p F the attribute for an annotation "mprof.<name>[:<index>,...]".
/// \p Annotation is the text after "mprof.". Returns false if hooks.def has no
/// attribute with this name and this number of indices.
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

/// Returns the text of \p Entry, an entry of llvm.global.annotations. Returns
/// an empty string if the entry has no text.
static StringRef annotationText(const Constant &Entry) {
  auto *Text = dyn_cast<GlobalVariable>(
      Entry.getAggregateElement(1u)->stripPointerCasts());
  auto *Data = Text && Text->hasInitializer()
                   ? dyn_cast<ConstantDataArray>(Text->getInitializer())
                   : nullptr;
  return Data && Data->isCString() ? Data->getAsCString() : "";
}

/// Removes all entries of \p Annotations (llvm.global.annotations) except \p
/// Others.
static void keepOnly(GlobalVariable &Annotations, ArrayRef<Constant *> Others) {
  if (!Others.empty()) {
    auto *Ty = ArrayType::get(Others.front()->getType(), Others.size());
    auto *Kept = new GlobalVariable(
        *Annotations.getParent(), Ty, Annotations.isConstant(),
        Annotations.getLinkage(), ConstantArray::get(Ty, Others));
    Kept->copyAttributesFrom(&Annotations);
    Kept->takeName(&Annotations);
  }
  Annotations.eraseFromParent();
}

/// Does what applyAnnotation does, and reports an error instead of returning
/// false.
static void applyOrReport(Function &F, StringRef Annotation) {
  if (!applyAnnotation(F, Annotation))
    F.getContext().emitError("mprof: unknown annotation 'mprof." + Annotation +
                             "' of function '" + F.getName() + "'");
}

/// Replaces MProf's entries of llvm.global.annotations by attributes of the
/// annotated functions.
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
    StringRef Annotation = annotationText(*Entry);
    if (!F || !Annotation.consume_front("mprof.")) {
      Others.push_back(Entry);
      continue;
    }
    applyOrReport(*F, Annotation);
  }
  if (Others.size() != Entries->getNumOperands())
    keepOnly(*Annotations, Others);
}

/// Does what readAnnotations does, for annotations of declarations that Clang
/// has passed on in another attribute (Compat.h).
static void readAssumptions(Module &M) {
  for (Function &F : M) {
    StringRef Rest = F.getFnAttribute(AssumeAttr).getValueAsString();
    SmallVector<StringRef, 4> Texts, Others;
    Rest.split(Texts, ',', -1, false);
    for (StringRef Text : Texts) {
      if (!Text.consume_front("mprof.")) {
        Others.push_back(Text);
        continue;
      }
      std::string Annotation = Text.str();
      std::replace(Annotation.begin(), Annotation.end(), ';', ',');
      applyOrReport(F, Annotation);
    }
    if (Others.size() == Texts.size())
      continue;
    F.removeFnAttr(AssumeAttr);
    if (!Others.empty())
      F.addFnAttr(AssumeAttr, join(Others, ","));
  }
}

static bool isListed(const SpecialCaseList &List, const Function &F) {
  const Module &M = *F.getParent();
  if (List.inSection("mprof", "fun", F.getName()) ||
      List.inSection("mprof", "src", M.getSourceFileName()))
    return true;
  // With debug info, the file that contains the function is known. If it is a
  // header, its name differs from the name of the module's source file.
  const DISubprogram *SP = F.getSubprogram();
  return SP && List.inSection("mprof", "src", SP->getFilename());
}

static constexpr StringLiteral BarrierAttr = "mprof-barrier";

/// Inserts an empty asm into \p F, the program's definition of a function such
/// as free. The optimizer assumes that the asm reads all arguments and changes
/// memory. If free does nothing, the optimizer would otherwise remove the calls
/// of free, or their arguments, before MProfPass can rewrite the calls.
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
      Ty, Asm, Args, "",
      position(F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca()));
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

/// Gives an attribute to each function of hooks.def, such as malloc, that the
/// program defines itself. The attribute says which place (see Place in
/// Marks.h) the calls inside this definition have. Forbids inlining these
/// definitions, because inlining would remove the calls that MProfPass
/// rewrites.
static void markDefinitions(Module &M) {
  for (const Hook &H : hooks()) {
    GlobalValue *GV = M.getNamedValue(H.Symbol);
    if (!GV || GV->hasLocalLinkage() || GV->isDeclarationForLinker())
      continue;
    auto *F = dyn_cast_or_null<Function>(GV->getAliaseeObject());
    // A function that has this name but another type is not the function that
    // hooks.def means.
    if (!F || F->isDeclaration() ||
        F->getFunctionType() != prototype(H.Proto, M))
      continue;
    // A function may have several aliases whose names are in hooks.def. The
    // loop then finds the function several times, but addBarrier must change
    // the function only once.
    const bool IsNew = !F->hasFnAttribute(PlaceAttr);
    F->addFnAttr(PlaceAttr, isHeap(H.Rule) ? "definition" : "synchronizer");
    if (F->hasFnAttribute(Attribute::AlwaysInline))
      continue;
    F->addFnAttr(Attribute::NoInline);
    if (IsNew && isHeap(H.Rule) && !F->hasFnAttribute(Attribute::Naked))
      addBarrier(*F);
  }
}

/// Returns the index of the parameter of \p F with the attribute allocptr (the
/// block to free or to resize). Returns nothing if there is no such parameter.
static std::optional<unsigned> blockParam(const Function &F) {
  for (const Argument &Arg : F.args())
    if (Arg.hasAttribute(Attribute::AllocatedPointer))
      return Arg.getArgNo();
  return std::nullopt;
}

/// Gives \p F the attribute mprof_alloc, mprof_free or mprof_realloc if its
/// LLVM attributes allocsize and allockind describe such a function. Clang
/// emits allocsize for the attribute alloc_size of C, but it never emits
/// allockind. Compilers of other languages emit allockind.
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

static bool isCustomAllocator(const Function &F) {
  return F.hasFnAttribute(mark::alloc) || F.hasFnAttribute(mark::alloc_out) ||
         F.hasFnAttribute(mark::free) || F.hasFnAttribute(mark::realloc);
}

/// Returns whether \p F has an attribute of MProf that says how its calls are
/// counted. An attribute in the source has priority over the lines
/// MPROF_ALLOCATOR(...) of hooks.def, which have priority over the LLVM
/// attribute allocsize.
static bool hasOwnMark(const Function &F) {
  return isCustomAllocator(F) || F.hasFnAttribute(mark::wrapper) ||
         F.hasFnAttribute(mark::ignore);
}

/// Gives the functions that hooks.def lists with MPROF_ALLOCATOR, such as
/// je_malloc, the attribute of a custom allocator.
static void markPrefixedAllocators(Module &M) {
  auto Mark = [&](StringRef Symbol, StringRef Proto, StringRef Attr,
                  StringRef Indices) {
    Function *F = M.getFunction(Symbol);
    if (F && !F->hasLocalLinkage() && !hasOwnMark(*F) &&
        F->getFunctionType() == prototype(Proto, M))
      F->addFnAttr(Attr, Indices);
  };
#define MPROF_ALLOCATOR(Symbol, Proto, Kind, Indices)                          \
  Mark(#Symbol, Proto, mark::Kind, Indices);
#include "mprof/hooks.def"
}

/// Gives functions with the LLVM attribute allocsize an attribute such as
/// mprof_alloc. Skips the functions of hooks.def, and functions that already
/// have an attribute of MProf. Also skips the functions of libgc, the garbage
/// collector: they have allocsize, but only libgc knows when its objects die.
static void markAllocSizes(Module &M) {
  StringSet<> Known;
  for (const Hook &H : hooks())
    Known.insert(H.Symbol);
  for (Function &F : M)
    if (!F.isIntrinsic() && !hasOwnMark(F) && !Known.contains(F.getName()) &&
        !F.getName().starts_with("GC_"))
      markByAllocSize(F);
}

/// Returns the text of the attribute "mprof-place" for \p F, such as
/// "allocator". The text names the kind of function that \p F is (see Place in
/// Marks.h). Returns an empty string if \p F needs no new attribute: either
/// \p F is an ordinary function, or \p F already has the attribute.
static StringRef placeInside(const Function &F, Nested Nested) {
  const bool HasPlace = F.hasFnAttribute(PlaceAttr);
  if (isCustomAllocator(F) && Nested != Nested::Each)
    return HasPlace ? "" : "allocator";
  if (F.hasFnAttribute(mark::lock) || F.hasFnAttribute(mark::unlock) ||
      F.hasFnAttribute(mark::blocking))
    return "synchronizer";
  if (F.hasFnAttribute(mark::ignore) && !HasPlace)
    return "ignored";
  return "";
}

/// Adds the attribute "mprof-place", which names the kind of function that \p F
/// is, to all calls in \p F. Indirect calls get the attribute, too, because the
/// optimizer may turn them into calls of malloc. Calls in ordinary functions
/// get it because they may be inlined into a function of another kind, such as
/// an allocator.
static void markCalls(Function &F) {
  Attribute Own = F.getFnAttribute(PlaceAttr);
  Attribute Mark = Attribute::get(F.getContext(), PlaceAttr,
                                  Own.isValid() ? Own.getValueAsString()
                                                : StringRef("ordinary"));
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (!isa<IntrinsicInst>(Call) && !Call->isInlineAsm())
        Call->addFnAttr(Mark);
}

void mprof::markModule(Module &M, const SpecialCaseList *Ignorelist,
                       const Options &Opts) {
  readAnnotations(M);
  if (!AnnotatesDeclarations)
    readAssumptions(M);
  markPrefixedAllocators(M);
  if (Opts.AllocSize)
    markAllocSizes(M);
  markDefinitions(M);
  bool Any = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    if (Ignorelist && isListed(*Ignorelist, F))
      F.addFnAttr(mark::ignore);
    if (StringRef Place = placeInside(F, Opts.Nested); !Place.empty())
      F.addFnAttr(PlaceAttr, Place);
    Any |= F.hasFnAttribute(PlaceAttr);
  }
  if (!Any)
    return;
  for (Function &F : M)
    if (!F.isDeclaration())
      markCalls(F);
}
