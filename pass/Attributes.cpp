// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the attributes of hooks.def in C and C++:
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
// Each attribute becomes an annotation of the function, which Marks.cpp reads:
//
//   @llvm.global.annotations = ... { ptr @pool_get, ptr @.str, ... }
//   @.str = private unnamed_addr constant [14 x i8] c"mprof.alloc:0\00"
//
// The source counts arguments from 1, and `this` is argument 1 of a non-static
// member function, as in GCC's alloc_size. The annotation counts the same
// arguments from 0. The generated call numbers its arguments as the annotation
// does, with two exceptions. First, if the result is returned in memory, the
// address of this memory is passed before all arguments. customSite in
// CallSites.cpp corrects the index in this case. Second, some arguments, such
// as small structs, are passed in pieces or not at all. An argument after such
// a struct would have another index in the generated call. So this file reports
// an error if an attribute names such an argument.
//
// A wrong use of an attribute is an error and not a warning, because a wrong
// index would yield wrong counts.

#include "ClangCompat.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Sema/Sema.h"

using namespace clang;

namespace {

/// The function arguments that an attribute names by their indices. For
/// example, mprof_realloc(ptr, size) names a block and a size.
enum class Arguments {
  AllocSizes,   ///< a size, and optionally a number of elements
  ReallocSizes, ///< a block and a size
  Block,        ///< a block
  Lock,         ///< a lock
  None
};

constexpr Arguments argumentsOf(llvm::StringRef Spelling) {
  return Spelling == "alloc"     ? Arguments::AllocSizes
         : Spelling == "realloc" ? Arguments::ReallocSizes
         : Spelling == "free"    ? Arguments::Block
         : Spelling == "lock"    ? Arguments::Lock
         : Spelling == "unlock"  ? Arguments::Lock
                                 : Arguments::None;
}

/// Returns whether the argument of an attribute at \p Position, counted from 0,
/// names a pointer to a block or a lock. Otherwise this argument names an
/// integer: the size of a block or its number of elements.
bool isPointer(Arguments Args, unsigned Position) {
  return Args != Arguments::AllocSizes && Position == 0;
}

/// Returns whether a call in LLVM IR for x86-64 passes the C++ parameter \p
/// Param as exactly one argument. A small struct may be passed as two
/// arguments, and an empty struct as none.
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
                              {mprof::SyntaxC23, Scoped}} {
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
    const Arguments Args = argumentsOf(Name);
    std::string Annotation = ("mprof." + Name).str();
    if (Args != Arguments::None && !checkFunction(S, F, Attr, Args))
      return AttributeNotApplied;
    for (unsigned I = 0; I != Attr.getNumArgs(); ++I) {
      std::optional<unsigned> Index = checkIndex(S, F, Attr, Args, I);
      if (!Index)
        return AttributeNotApplied;
      Annotation += (I ? "," : ":") + std::to_string(*Index - 1);
    }
    F.addAttr(AnnotateAttr::Create(S.Context, Annotation, nullptr, 0,
                                   Attr.getRange()));
    mprof::annotateDeclaration(F, Annotation);
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

  /// Returns the source location of the argument of \p Attr at \p Position,
  /// counted from 0.
  static SourceLocation location(const ParsedAttr &Attr, unsigned Position) {
    return Attr.isArgExpr(Position) ? Attr.getArgAsExpr(Position)->getBeginLoc()
                                    : Attr.getLoc();
  }

  /// Returns whether \p F may have the attribute \p Attr. This depends on the
  /// kind of function, on its result and on its other attributes. Reports an
  /// error if \p F may not have \p Attr.
  bool checkFunction(Sema &S, const FunctionDecl &F, const ParsedAttr &Attr,
                     Arguments Args) const {
    if (isa<CXXConstructorDecl, CXXDestructorDecl>(F)) {
      error(S, Attr.getLoc(), "%0 cannot apply to a constructor or destructor")
          << Attr;
      return false;
    }
    if ((Args == Arguments::AllocSizes || Args == Arguments::ReallocSizes) &&
        !F.getReturnType()->isPointerType()) {
      error(S, Attr.getLoc(),
            "%0 needs a function that returns a pointer, not %1")
          << Attr << F.getReturnType();
      return false;
    }
    for (const auto *Other : F.specific_attrs<AnnotateAttr>()) {
      auto [Scope, Spelling] = Other->getAnnotation().split('.');
      Spelling = Spelling.split(':').first;
      if (Scope != "mprof" || argumentsOf(Spelling) == Arguments::None ||
          Spelling == Name)
        continue;
      error(S, Attr.getLoc(), "%0 cannot be combined with 'mprof_%1'")
          << Attr << Spelling;
      return false;
    }
    return true;
  }

  /// Reads the argument of \p Attr at \p Position, counted from 0. Its value
  /// must be an integer constant between 1 and \p Count, the number of function
  /// arguments. \p This is 1 if `this` is one of these arguments, otherwise 0.
  /// Returns the value, or nothing after an error.
  std::optional<unsigned> readIndex(Sema &S, const ParsedAttr &Attr,
                                    unsigned Position, unsigned Count,
                                    unsigned This) const {
    const Expr *E =
        Attr.isArgExpr(Position) ? Attr.getArgAsExpr(Position) : nullptr;
    const SourceLocation Loc = location(Attr, Position);
    std::optional<llvm::APSInt> Value;
    if (E && !E->isValueDependent() && !E->isTypeDependent())
      Value = E->getIntegerConstantExpr(S.Context);
    if (!Value) {
      error(S, Loc, "argument %1 of %0 is not an integer constant")
          << Attr << Position + 1;
      return std::nullopt;
    }
    if (*Value < 1 || *Value > Count) {
      error(S, Loc,
            "argument %1 of %0 is %2, but the function has %3 "
            "argument%s3%select{|, counting 'this'}4")
          << Attr << Position + 1 << llvm::toString(*Value, 10) << Count
          << This;
      return std::nullopt;
    }
    return Value->getZExtValue();
  }

  /// Checks the function parameter that the argument of \p Attr at \p Position
  /// names. \p Param is the number of this parameter in \p F, counted from 0,
  /// without `this`. \p Index is the number that the user wrote. Returns true
  /// if the parameter has the type that \p Attr needs, and if clang lowers each
  /// preceding parameter to one argument in LLVM IR. Otherwise reports an
  /// error.
  bool checkParam(Sema &S, const FunctionDecl &F, const ParsedAttr &Attr,
                  Arguments Args, unsigned Position, unsigned Index,
                  unsigned Param) const {
    const SourceLocation Loc = location(Attr, Position);
    const bool Pointer = isPointer(Args, Position);
    const QualType T = F.getParamDecl(Param)->getType();
    const bool Fits = Pointer ? T->isPointerType()
                              : T->isIntegerType() && !T->isBooleanType() &&
                                    S.Context.getTypeSize(T) <= 64;
    if (!Fits) {
      error(S, Loc,
            "argument %1 of %0 must name %select{an integer of at most 64 "
            "bits|a pointer}2, but argument %3 of the function is %4")
          << Attr << Position + 1 << Pointer << Index << T;
      return false;
    }
    for (unsigned I = 0; I != Param; ++I)
      if (!isOneArgument(S.Context, *F.getParamDecl(I))) {
        error(S, Loc,
              "argument %1 of %0 names a function argument that follows an "
              "argument of type %2, which is not passed as one value; put the "
              "named argument before it")
            << Attr << Position + 1 << F.getParamDecl(I)->getType();
        return false;
      }
    return true;
  }

  /// Reads the argument of \p Attr at \p Position, which is the index of a
  /// function argument, counted from 1. Checks that this function argument has
  /// a suitable type. Returns the index, or nothing after an error.
  std::optional<unsigned> checkIndex(Sema &S, const FunctionDecl &F,
                                     const ParsedAttr &Attr, Arguments Args,
                                     unsigned Position) const {
    const auto *Method = dyn_cast<CXXMethodDecl>(&F);
    const unsigned This = Method && mprof::hasImplicitThis(Method) ? 1 : 0;
    const std::optional<unsigned> Index =
        readIndex(S, Attr, Position, F.getNumParams() + This, This);
    if (!Index)
      return std::nullopt;
    if (*Index <= This) {
      if (isPointer(Args, Position))
        return Index;
      error(S, location(Attr, Position),
            "argument %1 of %0 names 'this', which is not a size")
          << Attr << Position + 1;
      return std::nullopt;
    }
    if (!checkParam(S, F, Attr, Args, Position, *Index, *Index - 1 - This))
      return std::nullopt;
    return Index;
  }
};

/// An attribute without a scope, such as [[alloc]]. Clang does not parse the
/// arguments of [[mprof::alloc(...)]] unless an attribute [[alloc]] exists.
/// Therefore this class defines [[alloc]]. If a program uses [[alloc]], the
/// class reports it as an unknown attribute.
class UnscopedName : public ParsedAttrInfo {
public:
  explicit UnscopedName(const char *Name)
      : Names{{ParsedAttr::AS_CXX11, Name}, {mprof::SyntaxC23, Name}} {
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

// Declares ParsedAttrInfoRegistry::add_node as a weak symbol. The tool opt also
// loads this plugin, to run the passes, but opt has none of Clang's symbols. So
// a strong reference would make the loading fail. ParsedAttrInfoRegistry::Add
// cannot be used, because it contains a strong reference.
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
