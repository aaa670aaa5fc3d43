// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attributes of hooks.def in C and C++:
//
//   __attribute__((mprof_alloc(size[, count])))   [[mprof::alloc(...)]]
//   __attribute__((mprof_realloc(ptr, size)))     [[mprof::realloc(...)]]
//   __attribute__((mprof_free(ptr)))              [[mprof::free(...)]]
//   __attribute__((mprof_lock(lock)))             [[mprof::lock(...)]]
//   __attribute__((mprof_unlock(lock)))           [[mprof::unlock(...)]]
//   __attribute__((mprof_blocking))               [[mprof::blocking]]
//   __attribute__((mprof_ignore))                 [[mprof::ignore]]
//   __attribute__((mprof_wrapper))                [[mprof::wrapper]]
//
// The source counts arguments from 1, and in a non-static member function
// `this` is 1, as in GCC's alloc_size. The annotation that a function gets
// counts the same from 0, which is how Clang's code generation counts, but for
// the address of a result in memory (see customSite) and for arguments that it
// passes in pieces or not at all, such as a small struct. No such argument may
// come before one that an attribute names; then an index always is right.
//
// Mistakes are errors, since a wrong index would count nonsense.

#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/ParsedAttrInfo.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"

using namespace clang;

namespace {

enum class Kind { Alloc, Realloc, Free, Lock, Plain };

constexpr Kind kindOf(llvm::StringRef Spelling) {
  return Spelling == "alloc"     ? Kind::Alloc
         : Spelling == "realloc" ? Kind::Realloc
         : Spelling == "free"    ? Kind::Free
         : Spelling == "lock"    ? Kind::Lock
         : Spelling == "unlock"  ? Kind::Lock
                                 : Kind::Plain;
}

/// Whether argument \p Position, from 0, of \p K is the block or the lock, not
/// a size.
bool isBlock(Kind K, unsigned Position) {
  return K != Kind::Alloc && Position == 0;
}

/// Whether a parameter of type \p T is one argument of the generated call on
/// x86-64, and not two or none.
bool isOneArgument(const ASTContext &Ctx, const ParmVarDecl &Param) {
  QualType T = Param.getType();
  if (Param.hasAttr<PassObjectSizeAttr>() || T->isDependentType())
    return false;
  if (T->isReferenceType())
    return true;
  if (T->isIncompleteType())
    return false;
  if (T->isAnyPointerType() || T->isBlockPointerType() || T->isNullPtrType() ||
      T->isMemberDataPointerType() || T->isRealFloatingType() ||
      T->isVectorType())
    return true;
  if (T->isIntegralOrEnumerationType())
    return Ctx.getTypeSize(T) <= 64;
  if (const CXXRecordDecl *Record = T->getAsCXXRecordDecl())
    if (!Record->canPassInRegisters())
      return true;
  return T->isRecordType() && Ctx.getTypeSize(T) > 128;
}

class MProfAttribute : public ParsedAttrInfo {
public:
  MProfAttribute(llvm::StringRef Spelling, const char *GNU, const char *Scoped,
                 unsigned MinArgs, unsigned MaxArgs)
      : Name(Spelling), Names{{ParsedAttr::AS_GNU, GNU},
                              {ParsedAttr::AS_CXX11, Scoped},
                              {ParsedAttr::AS_C23, Scoped}} {
    NumArgs = MinArgs;
    OptArgs = MaxArgs - MinArgs;
    Spellings = Names;
  }

  bool diagAppertainsToDecl(Sema &S, const ParsedAttr &Attr,
                            const Decl *D) const override {
    if (isa<FunctionDecl>(D))
      return true;
    error(S, Attr.getLoc(), "%0 only applies to functions") << Attr;
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &S, Decl *D,
                                   const ParsedAttr &Attr) const override {
    auto &F = *cast<FunctionDecl>(D);
    const Kind K = kindOf(Name);
    std::string Annotation = ("mprof." + Name).str();
    if (K != Kind::Plain && !checkFunction(S, F, Attr, K))
      return AttributeNotApplied;
    for (unsigned I = 0; I != Attr.getNumArgs(); ++I) {
      std::optional<unsigned> Index = checkIndex(S, F, Attr, K, I);
      if (!Index)
        return AttributeNotApplied;
      Annotation += (I ? "," : ":") + std::to_string(*Index - 1);
    }
    F.addAttr(AnnotateAttr::Create(S.Context, Annotation, nullptr, 0,
                                   Attr.getRange()));
    return AttributeApplied;
  }

private:
  llvm::StringRef Name;
  Spelling Names[3];

  template <unsigned N>
  static Sema::SemaDiagnosticBuilder error(Sema &S, SourceLocation Loc,
                                           const char (&Text)[N]) {
    return S.Diag(Loc, S.getDiagnostics().getCustomDiagID(
                           DiagnosticsEngine::Error, Text));
  }

  bool checkFunction(Sema &S, const FunctionDecl &F, const ParsedAttr &Attr,
                     Kind K) const {
    if (isa<CXXConstructorDecl, CXXDestructorDecl>(F)) {
      error(S, Attr.getLoc(), "%0 cannot apply to a constructor or destructor")
          << Attr;
      return false;
    }
    if ((K == Kind::Alloc || K == Kind::Realloc) &&
        !F.getReturnType()->isPointerType()) {
      error(S, Attr.getLoc(),
            "%0 needs a function that returns a pointer, not %1")
          << Attr << F.getReturnType();
      return false;
    }
    for (const auto *Other : F.specific_attrs<AnnotateAttr>()) {
      auto [Scope, Spelling] = Other->getAnnotation().split('.');
      Spelling = Spelling.split(':').first;
      if (Scope != "mprof" || kindOf(Spelling) == Kind::Plain ||
          Spelling == Name)
        continue;
      error(S, Attr.getLoc(), "%0 cannot be combined with 'mprof_%1'")
          << Attr << Spelling;
      return false;
    }
    return true;
  }

  /// The index, from 1, that argument \p Position of \p Attr gives.
  std::optional<unsigned> checkIndex(Sema &S, const FunctionDecl &F,
                                     const ParsedAttr &Attr, Kind K,
                                     unsigned Position) const {
    const Expr *E =
        Attr.isArgExpr(Position) ? Attr.getArgAsExpr(Position) : nullptr;
    SourceLocation Loc = E ? E->getBeginLoc() : Attr.getLoc();
    std::optional<llvm::APSInt> Value;
    if (E && !E->isValueDependent() && !E->isTypeDependent())
      Value = E->getIntegerConstantExpr(S.Context);
    if (!Value) {
      error(S, Loc, "argument %1 of %0 is not an integer constant")
          << Attr << Position + 1;
      return std::nullopt;
    }

    const auto *Method = dyn_cast<CXXMethodDecl>(&F);
    const unsigned This =
        Method && Method->isImplicitObjectMemberFunction() ? 1 : 0;
    const unsigned Count = F.getNumParams() + This;
    if (*Value < 1 || *Value > Count) {
      error(S, Loc,
            "argument %1 of %0 is %2, but the function has %3 "
            "argument%s3%select{|, 'this' being the first}4")
          << Attr << Position + 1 << llvm::toString(*Value, 10) << Count
          << This;
      return std::nullopt;
    }
    const unsigned Index = Value->getZExtValue();
    const bool Block = isBlock(K, Position);
    if (Index <= This) {
      if (Block)
        return Index;
      error(S, Loc, "argument %1 of %0 names 'this', which is no size")
          << Attr << Position + 1;
      return std::nullopt;
    }

    const QualType T = F.getParamDecl(Index - 1 - This)->getType();
    const bool Fits = Block ? T->isPointerType()
                            : T->isIntegerType() && !T->isBooleanType() &&
                                  S.Context.getTypeSize(T) <= 64;
    if (!Fits) {
      error(S, Loc,
            "argument %1 of %0 must name %select{an integer of at most 64 "
            "bits|a pointer}2, but argument %3 of the function is %4")
          << Attr << Position + 1 << Block << Index << T;
      return std::nullopt;
    }
    for (unsigned I = 0; I != Index - 1 - This; ++I)
      if (!isOneArgument(S.Context, *F.getParamDecl(I))) {
        error(S, Loc,
              "argument %1 of %0 names an argument behind one of type %2, "
              "which is not passed as one value; put it before that")
            << Attr << Position + 1 << F.getParamDecl(I)->getType();
        return std::nullopt;
      }
    return Index;
  }
};

/// Clang skips the arguments of a scoped attribute unless one exists that has
/// its name without the scope. So [[alloc]] and its like have to exist, as
/// attributes that are unknown.
class UnscopedName : public ParsedAttrInfo {
public:
  explicit UnscopedName(const char *Name)
      : Names{{ParsedAttr::AS_CXX11, Name}, {ParsedAttr::AS_C23, Name}} {
    OptArgs = 15;
    Spellings = Names;
  }

  AttrHandling handleDeclAttribute(Sema &S, Decl *,
                                   const ParsedAttr &Attr) const override {
    S.Diag(Attr.getLoc(), diag::warn_unknown_attribute_ignored)
        << Attr << Attr.getRange();
    return AttributeNotApplied;
  }

private:
  Spelling Names[2];
};

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

using Registry = ParsedAttrInfoRegistry;

// ParsedAttrInfoRegistry::add_node, weak: opt, which loads this file for the
// pass, has nothing of Clang, and ParsedAttrInfoRegistry::Add would not bind.
extern "C" __attribute__((weak)) void addNode(Registry::node *) __asm__(
    "_ZN4llvm8RegistryIN5clang14ParsedAttrInfoEE8add_nodeEPNS3_4nodeE");

#define MPROF_ATTRIBUTE(Name, MinArgs, MaxArgs)                                \
  struct Scoped_##Name : MProfAttribute {                                      \
    Scoped_##Name()                                                            \
        : MProfAttribute(#Name, "mprof_" #Name, "mprof::" #Name, MinArgs,      \
                         MaxArgs) {}                                           \
  };                                                                           \
  struct Unscoped_##Name : UnscopedName {                                      \
    Unscoped_##Name() : UnscopedName(#Name) {}                                 \
  };
#include "mprof/hooks.def"

template <typename T> void add() {
  static Registry::entry Entry("mprof", "",
                               []() -> std::unique_ptr<ParsedAttrInfo> {
                                 return std::make_unique<T>();
                               });
  static Registry::node Node(Entry);
  addNode(&Node);
}

const bool Registered = [] {
  if (!addNode)
    return false;
#define MPROF_ATTRIBUTE(Name, MinArgs, MaxArgs)                                \
  add<Scoped_##Name>();                                                        \
  if (MaxArgs > 0)                                                             \
    add<Unscoped_##Name>();
#include "mprof/hooks.def"
  return true;
}();

} // namespace
