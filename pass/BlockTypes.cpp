// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockTypes.h"
#include "Hooks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mprof;

/// The beginning of mangled names of types' names.
static constexpr StringLiteral TypeName = "_ZTS";

/// The types of the calls at the places of this compilation, by a text of the
/// file, line, column and function. "" is the type of a place whose calls have
/// several types, such as the use of a macro.
static StringMap<std::string> &types() {
  static StringMap<std::string> Types;
  return Types;
}

void mprof::forgetBlockTypes() { types().clear(); }

/// Returns the key of a place. Clang numbers lambdas such as "$_1" in the order
/// in which it makes code for them, so the key lacks these numbers.
static std::string keyOf(StringRef File, unsigned Line, unsigned Column,
                         StringRef Function) {
  std::string Key =
      (File + ":" + Twine(Line) + ":" + Twine(Column) + ":").str();
  for (size_t I = 0; I < Function.size(); ++I) {
    Key += Function[I];
    if (Function.substr(0, I + 1).ends_with("$_"))
      while (I + 1 < Function.size() && isDigit(Function[I + 1]))
        ++I;
  }
  return Key;
}

void mprof::addBlockType(StringRef File, unsigned Line, unsigned Column,
                         StringRef Function, StringRef Type) {
  auto [It, IsNew] =
      types().try_emplace(keyOf(File, Line, Column, Function), Type.str());
  if (!IsNew && It->second != Type)
    It->second.clear();
}

/// Returns the type of the block that a call in \p F at \p Location allocates,
/// or "".
static StringRef typeOf(const Function &F, const DILocation &Location) {
  // The functions that initialize global variables have no name in the source.
  const bool IsInitializer = F.getName().starts_with("__cxx_global_var_init");
  auto It = types().find(keyOf(sys::path::filename(Location.getFilename()),
                               Location.getLine(), Location.getColumn(),
                               IsInitializer ? "" : F.getName()));
  return It == types().end() ? StringRef() : StringRef(It->second);
}

static DISubprogram *makeScope(StringRef Type, const DILocation &Location,
                               DICompileUnit *Unit) {
  LLVMContext &Ctx = Location.getContext();
  auto *None = DISubroutineType::get(Ctx, DINode::FlagZero, 0,
                                     MDTuple::get(Ctx, {nullptr}));
  // Without -fdebug-info-for-profiling, -g1 leaves out linkage names. Readers
  // demangle a name, too.
  return DISubprogram::getDistinct(
      Ctx, Location.getFile(), Type, "", Location.getFile(), 0, None, 0,
      nullptr, 0, 0, DINode::FlagArtificial,
      DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized, Unit);
}

static bool allocates(const Function *Callee) {
  return Callee && any_of(hooks(), [&](const Hook &H) {
           return (H.Rule == Rule::Alloc || H.Rule == Rule::Realloc) &&
                  H.Symbol == Callee->getName();
         });
}

void mprof::markBlockTypes(Module &M) {
  if (types().empty())
    return;
  DenseMap<std::pair<DICompileUnit *, StringRef>, DISubprogram *> Scopes;
  for (Function &F : M) {
    DICompileUnit *Unit =
        F.getSubprogram() ? F.getSubprogram()->getUnit() : nullptr;
    if (!Unit || Unit->getEmissionKind() == DICompileUnit::NoDebug)
      continue;
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      DILocation *Place = I.getDebugLoc().get();
      if (!Call || !Place || Place->getInlinedAt() ||
          !allocates(Call->getCalledFunction()))
        continue;
      StringRef Type = typeOf(F, *Place);
      if (Type.empty())
        continue;
      DISubprogram *&Scope = Scopes[{Unit, Type}];
      if (!Scope)
        Scope = makeScope(Type, *Place, Unit);
      Call->setDebugLoc(DILocation::get(I.getContext(), Place->getLine(),
                                        Place->getColumn(), Scope, Place));
    }
  }
}

DILocation *mprof::takeBlockType(CallBase &Call) {
  DILocation *Location = Call.getDebugLoc().get();
  DILocation *Place = Location ? Location->getInlinedAt() : nullptr;
  if (!Place ||
      !Location->getScope()->getSubprogram()->getName().starts_with(TypeName))
    return nullptr;
  Call.setDebugLoc(Place);
  return Location;
}
